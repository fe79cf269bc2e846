#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# **devstack.sh** - what a plugin may rely on in DevStack
#
# The functions of DevStack that the plugin of Kronos calls, and those that
# call the plugin, as DevStack's documentation describes them. Tests source it
# in the place of DevStack's own "functions".

declare -A GITDIR

# Plugins
# -------

# enable_plugin name
function enable_plugin {
    DEVSTACK_PLUGINS=${DEVSTACK_PLUGINS:+$DEVSTACK_PLUGINS,}$1
    GITDIR[$1]=$DEST/$1
}

# For tools that look into the settings; nothing happens.
function define_plugin {
    :
}

function plugin_requires {
    :
}

# run_phase mode [phase]
function run_phase {
    local plugin script=plugin.sh
    case $1 in
        source)
            script=settings
            ;;
        override_defaults)
            script=override-defaults
            ;;
    esac
    for plugin in ${DEVSTACK_PLUGINS//,/ }; do
        if [[ -f "${GITDIR[$plugin]}/devstack/$script" ]]; then
            # shellcheck disable=SC1090
            source "${GITDIR[$plugin]}/devstack/$script" "$@"
        fi
    done
}


# Services
# --------

# enable_service service...: what was disabled stays so
function enable_service {
    local service
    for service in "$@"; do
        if [[ ",${DISABLED_SERVICES:-}," == *",$service,"* ]]; then
            echo "[WARNING] $service has been disabled"
        elif ! is_service_enabled "$service"; then
            ENABLED_SERVICES=${ENABLED_SERVICES:+$ENABLED_SERVICES,}$service
        fi
    done
}

# disable_service service...
function disable_service {
    local service rest
    for service in "$@"; do
        DISABLED_SERVICES=${DISABLED_SERVICES:+$DISABLED_SERVICES,}$service
        rest=,$ENABLED_SERVICES,
        rest=${rest/,$service,/,}
        rest=${rest#,}
        ENABLED_SERVICES=${rest%,}
    done
}

# is_service_enabled service...: any of them
function is_service_enabled {
    local service
    for service in "$@"; do
        if [[ ",${ENABLED_SERVICES:-}," == *",$service,"* ]]; then
            return 0
        fi
    done
    return 1
}


# run_process service command: a test notes it instead
function run_process {
    :
}

# stop_process service
function stop_process {
    :
}

# Where programs of packages of Python are
function get_python_exec_prefix {
    echo /opt/stack/bin
}


# Messages
# --------

function echo_summary {
    echo "$@"
}

# die line text...: the file is that of who called
function die {
    local status=$?
    echo "[ERROR] ${BASH_SOURCE[1]}:$1 ${*:2}" >&2
    if [[ $status == 0 ]]; then
        status=1
    fi
    exit $status
}


# INI files
# ---------

# ini_has_option file section option
function ini_has_option {
    [[ -n "$(ini_lines "$@")" ]]
}

# iniget file section option: several lines are joined, all but the first whole
function iniget {
    local lines
    lines=$(ini_lines "$@")
    # Blanks side by side become one.
    # shellcheck disable=SC2086
    echo ${lines#*=}
}

# inidelete file section option
function inidelete {
    ini_rewrite "$@" delete ""
}

# iniset file section option value
function iniset {
    local value
    if [[ -z "$2" || -z "$3" ]]; then
        return
    fi
    # Blanks side by side become one, and wildcards are filled in.
    # shellcheck disable=SC2086,SC2116
    value=$(echo $4)
    if ! grep -q "^\[$2\]" "$1" 2>/dev/null; then
        printf '\n[%s]\n' "$2" >>"$1"
    fi
    if ini_has_option "$1" "$2" "$3"; then
        ini_rewrite "$1" "$2" "$3" replace "$value"
    else
        ini_rewrite "$1" "$2" "$3" add "$value"
    fi
}

# The lines of an option in a section
function ini_lines {
    awk -v section="[$2]" -v option="$3" '
        /^\[/ { inside = index($0, section) == 1; next }
        inside && $0 ~ "^" option "[ \t]*=" { print }
    ' "$1"
}

# ini_rewrite file section option delete|replace|add value
function ini_rewrite {
    local text
    text=$(VALUE=$5 awk -v section="[$2]" -v option="$3" -v how="$4" '
        /^\[/ {
            inside = index($0, section) == 1
            print
            if (inside && how == "add")
                print option " = " ENVIRON["VALUE"]
            next
        }
        inside && match($0, "^" option "[ \t]*=[ \t]*") {
            if (how == "replace")
                print substr($0, 1, RLENGTH) ENVIRON["VALUE"]
            if (how != "add")
                next
        }
        { print }
        END { print "." }' "$1")
    printf '%s' "${text%.}" >"$1"
}
