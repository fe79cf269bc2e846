#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# **plugin.sh** - installs and configures Kronos in DevStack
#
# Watcher's decision engine and applier load Kronos, and so does
# nova-scheduler; the instance monitor alone is a process of its own. All that
# is changed is noted in $KRONOS_CHANGES, so that "clean" takes back that and
# nothing else. A line has a kind and its fields, with a tab between them. No
# phase writes anything if what it needs is not there.
#
# An option that somebody else has set is left as it is.

_XTRACE_KRONOS=$(set +o | grep xtrace)
set +o xtrace

KRONOS_CHANGES=$KRONOS_CONF_DIR/devstack-changes
KRONOS_WEIGHER=kronos.weighers.load.KronosWeigher
KRONOS_ALL_WEIGHERS=nova.scheduler.weights.all_weighers


# What was changed
# ----------------

# kronos_note kind field...
function kronos_note {
    if ! kronos_noted "$@"; then
        local IFS=$'\t'
        printf '%s\n' "$*" >>"$KRONOS_CHANGES"
    fi
}

# kronos_noted kind field...
function kronos_noted {
    local IFS=$'\t'
    grep -qxF -e "$*" "$KRONOS_CHANGES"
}

# kronos_forget kind field...
function kronos_forget {
    local IFS=$'\t'
    local lines
    lines=$(grep -vxF -e "$*" "$KRONOS_CHANGES" || true)
    printf '%s\n' "$lines" >"$KRONOS_CHANGES"
}

# Make a directory and those above it
function kronos_directory {
    if [[ ! -d "$1" ]]; then
        kronos_directory "$(dirname "$1")"
        sudo install -d -o "$STACK_USER" "$1"
        made+=("$1")
    fi
}

# Make the directories, and the file that notes it
function kronos_directories {
    local directory
    local made=()
    for directory in "$KRONOS_CONF_DIR" "$(dirname "$KRONOS_CONF")" \
            "$(dirname "$KRONOS_POLICIES_FILE")"; do
        kronos_directory "$directory"
    done
    # It repeats what the URL of Prometheus holds, maybe a password.
    (umask 077; touch "$KRONOS_CHANGES")
    for directory in "${made[@]}"; do
        kronos_note directory "$directory"
    done
}

# Note that a section is to come into a file, if it is not there
# kronos_note_section file section
function kronos_note_section {
    if ! grep -q "^\[$2\]" "$1"; then
        if [[ -n "$(tail -c 1 "$1")" ]]; then
            kronos_note no-newline "$1"
        fi
        kronos_note section "$1" "$2"
    fi
}

# Set an option, unless somebody else has
# kronos_set file section option value
function kronos_set {
    local file=$1 section=$2 option=$3 value=$4
    local now
    if ini_has_option "$file" "$section" "$option"; then
        now=$(iniget "$file" "$section" "$option")
        if [[ "$now" == "$value" ]]; then
            return
        elif ! kronos_noted option "$file" "$section" "$option" "$now"; then
            echo_summary "Kronos leaves $option of [$section] in $file alone"
            return
        fi
        kronos_forget option "$file" "$section" "$option" "$now"
    else
        kronos_note_section "$file" "$section"
    fi
    kronos_note option "$file" "$section" "$option" "$value"
    iniset "$file" "$section" "$option" "$value"
}

# Remove the header of a section that has nothing left, and the blank line
# that iniset puts before it
# kronos_remove_section file section
function kronos_remove_section {
    local text
    if ! grep -qxF "[$2]" "$1"; then
        return
    fi
    text=$(awk -v header="[$2]" '
        { lines[NR] = $0 }
        at && $0 != "" && after == "" { after = $0 }
        $0 == header { at = NR; after = "" }
        END {
            if (after == "" || after ~ /^\[/) {
                gone[at] = 1
                if (lines[at - 1] == "")
                    gone[at - 1] = 1
            }
            for (i = 1; i <= NR; i++)
                if (!(i in gone))
                    print lines[i]
            print "."
        }' "$1")
    printf '%s' "${text%.}" >"$1"
}

# kronos_undo kind file [field...]
function kronos_undo {
    local kind=$1 file=$2 section=${3:-} option=${4:-} value=${5:-}
    if [[ ! -f "$file" ]]; then
        return
    fi
    case $kind in
        option)
            if [[ "$(iniget "$file" "$section" "$option")" == "$value" ]]; then
                inidelete "$file" "$section" "$option"
            fi
            ;;
        section)
            kronos_remove_section "$file" "$section"
            ;;
        no-newline)
            if [[ -s "$file" && -z "$(tail -c 1 "$file")" ]]; then
                truncate -s -1 "$file"
            fi
            ;;
        weigher)
            kronos_remove_weigher "$file" "$section"
            ;;
        copy)
            if [[ "$(cksum <"$file")" == "$section" ]]; then
                rm -f "$file"
            else
                echo_summary "Kronos leaves $file: somebody has changed it"
            fi
            ;;
        state)
            rm -f "$file" "$file"-wal "$file"-shm "$file".lock "$file".broken*
            ;;
        file)
            if ! grep -q '[^[:space:]]' "$file"; then
                rm -f "$file"
            fi
            ;;
    esac
}


# What is configured
# ------------------

function check_kronos_services {
    if is_service_enabled kronos && \
            ! is_service_enabled watcher-decision-engine watcher-applier; then
        die $LINENO "Kronos needs Watcher, and neither of" \
            "watcher-decision-engine and watcher-applier is enabled here." \
            "Put \"enable_plugin watcher" \
            "https://opendev.org/openstack/watcher\" before" \
            "\"enable_plugin kronos\" in local.conf, or \"disable_service" \
            "kronos\" where Watcher does not run"
    fi
    if is_service_enabled kronos && [[ -z "${WATCHER_CONF:-}" ]]; then
        die $LINENO "The plugin of Watcher comes after that of Kronos and" \
            "would write watcher.conf anew. Put \"enable_plugin watcher\"" \
            "before \"enable_plugin kronos\" in local.conf"
    fi
}

# Look at all that is needed before anything is written
function check_kronos_files {
    local option value
    if is_service_enabled kronos && [[ ! -f "${WATCHER_CONF:-}" ]]; then
        die $LINENO "There is no ${WATCHER_CONF:-watcher.conf}. Put" \
            "\"enable_plugin watcher\" before \"enable_plugin kronos\" in" \
            "local.conf, or \"disable_service kronos\" where Watcher does" \
            "not run"
    fi
    if is_kronos_weigher_wanted; then
        if [[ ! -f "${NOVA_CONF:-}" ]]; then
            die $LINENO "There is no ${NOVA_CONF:-nova.conf}. Enable Nova," \
                "or \"disable_service kronos-weigher\" in local.conf"
        fi
        value=$(iniget "$NOVA_CONF" filter_scheduler weight_classes)
        if [[ "$value" == *=* ]]; then
            die $LINENO "weight_classes stands in [filter_scheduler] of" \
                "$NOVA_CONF more than once. Leave one line of it"
        fi
    fi
    if [[ ! -r "$(kronos_sample)" ]]; then
        die $LINENO "There is no $(kronos_sample). Set" \
            "KRONOS_POLICIES_SAMPLE in local.conf to a policies file;" \
            "$KRONOS_DIR/etc/kronos has samples"
    fi
    for option in aggregates cooldown hypervisor_types \
            include_unassigned_hosts policies_file state_file url; do
        value=$(kronos_value $option)
        # DevStack hands on what it writes without quotes.
        # shellcheck disable=SC2086,SC2116
        if [[ "$(echo $value)" != "$value" ]]; then
            die $LINENO "DevStack would not write the option $option as" \
                "it is given in local.conf. Leave out wildcards, and" \
                "blanks that stand at an end or side by side"
        fi
    done
    if [[ -e "$KRONOS_CONF_DIR" && \
            ! ( -d "$KRONOS_CONF_DIR" && -w "$KRONOS_CONF_DIR" ) ]]; then
        die $LINENO "$KRONOS_CONF_DIR is no directory that $STACK_USER may" \
            "write into. Make it one, or set KRONOS_CONF_DIR in local.conf"
    fi
}

# Whether there is anything to do on this node
function is_kronos_wanted {
    is_kronos_planning_wanted || is_kronos_monitor_wanted
}

# Whether this node plans, or weighs hosts by the same policies
function is_kronos_planning_wanted {
    is_service_enabled kronos || is_kronos_weigher_wanted
}

# Whether this node has servers that the instance monitor is to watch
function is_kronos_monitor_wanted {
    is_service_enabled kronos-monitor && is_service_enabled n-cpu && \
        [[ "${VIRT_DRIVER:-libvirt}" == libvirt ]]
}

# Whether this node has a nova-scheduler that is to ask Kronos
function is_kronos_weigher_wanted {
    is_service_enabled kronos-weigher && is_service_enabled n-sch
}

# Where Prometheus is; nothing if nobody says so, or Keystone is to
function kronos_prometheus_url {
    local host="" port=""
    if [[ "$KRONOS_PROMETHEUS_URL" == keystone ]]; then
        return
    elif [[ -n "$KRONOS_PROMETHEUS_URL" ]]; then
        echo "$KRONOS_PROMETHEUS_URL"
        return
    elif is_service_enabled prometheus; then
        host=$SERVICE_HOST
        port=${PROMETHEUS_PORT:-9090}
    elif [[ -r "$KRONOS_PROMETHEUS_FILE" ]]; then
        host=$(awk '$1 == "host:" { print $2 }' "$KRONOS_PROMETHEUS_FILE")
        port=$(awk '$1 == "port:" { print $2 }' "$KRONOS_PROMETHEUS_FILE")
    fi
    if [[ -n "$host" ]]; then
        echo "http://$host:${port:-9090}"
    fi
}

# The policies to begin with
function kronos_sample {
    if [[ -n "$KRONOS_POLICIES_SAMPLE" ]]; then
        echo "$KRONOS_POLICIES_SAMPLE"
    elif is_service_enabled sg-core; then
        echo "$KRONOS_DIR/etc/kronos/policies-ceilometer.yaml"
    else
        echo "$KRONOS_DIR/etc/kronos/policies-node-exporter.yaml"
    fi
}

function kronos_hypervisor_types {
    if [[ -z "$KRONOS_HYPERVISOR_TYPES" && "${VIRT_DRIVER:-}" == fake ]]; then
        echo fake
    else
        echo "$KRONOS_HYPERVISOR_TYPES"
    fi
}

# Ceilometer's samples need a longer time to show a move
function kronos_cooldown {
    if [[ -z "$KRONOS_COOLDOWN" && \
            "$(kronos_sample)" == */policies-ceilometer.yaml ]]; then
        echo 900
    else
        echo "$KRONOS_COOLDOWN"
    fi
}

# Copy the policies, unless others stand there
function configure_kronos_policies {
    local sample sum
    sample=$(kronos_sample)
    if [[ -e "$KRONOS_POLICIES_FILE" ]]; then
        sum=$(cksum <"$KRONOS_POLICIES_FILE")
        if ! kronos_noted copy "$KRONOS_POLICIES_FILE" "$sum"; then
            echo_summary "Kronos leaves $KRONOS_POLICIES_FILE alone"
            return
        fi
    fi
    kronos_note copy "$KRONOS_POLICIES_FILE" "$(cksum <"$sample")"
    install -m 644 "$sample" "$KRONOS_POLICIES_FILE"
}

# The same options for Watcher, for nova-scheduler and for the commands
# configure_kronos_options file
function configure_kronos_options {
    local option value
    # iniset puts each new one before the others.
    for option in hypervisor_types cooldown include_unassigned_hosts \
            aggregates policies_file; do
        value=$(kronos_value $option)
        if [[ -n "$value" ]]; then
            kronos_set "$1" kronos $option "$value"
        fi
    done
    value=$(kronos_value url)
    if [[ -n "$value" ]]; then
        kronos_set "$1" kronos_prometheus url "$value"
    fi
}

# What an option is to be; nothing if it keeps its default
function kronos_value {
    case $1 in
        aggregates)
            echo "$KRONOS_AGGREGATES"
            ;;
        cooldown)
            kronos_cooldown
            ;;
        hypervisor_types)
            kronos_hypervisor_types
            ;;
        include_unassigned_hosts)
            echo "$KRONOS_INCLUDE_UNASSIGNED_HOSTS"
            ;;
        policies_file)
            echo "$KRONOS_POLICIES_FILE"
            ;;
        state_file)
            echo "$KRONOS_MONITOR_STATE_FILE"
            ;;
        url)
            kronos_prometheus_url
            ;;
    esac
}

function configure_kronos {
    check_kronos_files
    kronos_directories
    if [[ ! -e "$KRONOS_CONF" ]]; then
        kronos_note file "$KRONOS_CONF"
        (umask 027; touch "$KRONOS_CONF")
    fi
    if is_kronos_planning_wanted; then
        configure_kronos_policies
        configure_kronos_options "$KRONOS_CONF"
    fi
    if is_service_enabled kronos; then
        configure_kronos_options "$WATCHER_CONF"
    fi
    if is_kronos_weigher_wanted; then
        configure_kronos_options "$NOVA_CONF"
        add_kronos_weigher
    fi
    if is_kronos_monitor_wanted; then
        configure_kronos_monitor
    fi
    if is_kronos_planning_wanted && [[ -z "$(kronos_prometheus_url)" ]]; then
        echo_summary "Kronos knows no Prometheus: Keystone is asked for" \
            "metric-storage, unless KRONOS_PROMETHEUS_URL is set"
    fi
}

# Only the state file differs from the defaults; [[post-config|$KRONOS_CONF]]
# has the sinks
function configure_kronos_monitor {
    local directory
    local made=()
    kronos_directory "$(dirname "$KRONOS_MONITOR_STATE_FILE")"
    for directory in "${made[@]}"; do
        kronos_note directory "$directory"
    done
    kronos_note state "$KRONOS_MONITOR_STATE_FILE"
    kronos_set "$KRONOS_CONF" kronos_monitor state_file \
        "$KRONOS_MONITOR_STATE_FILE"
}

function start_kronos_monitor {
    local command
    command="$(get_python_exec_prefix)/kronos-instance-monitor"
    run_process kronos-monitor "$command --config-file $KRONOS_CONF"
}

# Append the weigher to those that Nova has
function add_kronos_weigher {
    local had=absent now=$KRONOS_ALL_WEIGHERS
    if ini_has_option "$NOVA_CONF" filter_scheduler weight_classes; then
        had=present
        now=$(iniget "$NOVA_CONF" filter_scheduler weight_classes)
        if [[ ",${now// /}," == *",$KRONOS_WEIGHER,"* ]]; then
            return
        fi
    else
        kronos_note_section "$NOVA_CONF" filter_scheduler
    fi
    kronos_note weigher "$NOVA_CONF" $had
    iniset "$NOVA_CONF" filter_scheduler weight_classes \
        "${now:+$now,}$KRONOS_WEIGHER"
}

# Leave what others have there
# kronos_remove_weigher file absent|present
function kronos_remove_weigher {
    local now
    now=$(iniget "$1" filter_scheduler weight_classes)
    if [[ "$now" != *"$KRONOS_WEIGHER"* ]]; then
        return
    fi
    now=${now/,$KRONOS_WEIGHER/}
    now=${now/$KRONOS_WEIGHER,/}
    now=${now/$KRONOS_WEIGHER/}
    if [[ $2 == absent && "$now" == "$KRONOS_ALL_WEIGHERS" ]]; then
        inidelete "$1" filter_scheduler weight_classes
    else
        iniset "$1" filter_scheduler weight_classes "$now"
    fi
}

# local.conf goes before this plugin
function check_kronos_weigher {
    local now
    now=$(iniget "$NOVA_CONF" filter_scheduler weight_classes)
    if [[ "$now" != *"$KRONOS_WEIGHER"* ]]; then
        echo_summary "nova-scheduler does not ask Kronos: weight_classes in" \
            "$NOVA_CONF has no $KRONOS_WEIGHER"
    fi
}

# The package stays, as clean.sh leaves all packages
function cleanup_kronos {
    local lines line fields
    if [[ ! -f "$KRONOS_CHANGES" ]]; then
        return
    fi
    mapfile -t lines < <(tac "$KRONOS_CHANGES")
    for line in "${lines[@]}"; do
        IFS=$'\t' read -r -a fields <<<"$line"
        kronos_undo "${fields[@]}"
    done
    rm -f "$KRONOS_CHANGES"
    for line in "${lines[@]}"; do
        IFS=$'\t' read -r -a fields <<<"$line"
        if [[ ${fields[0]} == directory && -d "${fields[1]}" ]]; then
            sudo rmdir --ignore-fail-on-non-empty "${fields[1]}"
        fi
    done
}


# Phases
# ------

if [[ "$1" == "clean" ]]; then
    # Also what was configured before the services were disabled.
    cleanup_kronos
elif is_kronos_wanted; then
    if [[ "$1" == "stack" && "$2" == "pre-install" ]]; then
        check_kronos_services
    elif [[ "$1" == "stack" && "$2" == "install" ]]; then
        echo_summary "Installing Kronos"
        if is_kronos_monitor_wanted; then
            setup_develop "$KRONOS_DIR" monitor
        else
            setup_develop "$KRONOS_DIR"
        fi
    elif [[ "$1" == "stack" && "$2" == "post-config" ]]; then
        echo_summary "Configuring Kronos"
        configure_kronos
    elif [[ "$1" == "stack" && "$2" == "extra" ]]; then
        if is_kronos_weigher_wanted; then
            check_kronos_weigher
        fi
        if is_kronos_monitor_wanted; then
            start_kronos_monitor
        fi
    elif [[ "$1" == "unstack" ]]; then
        if is_kronos_monitor_wanted; then
            stop_process kronos-monitor
        fi
    fi
fi

$_XTRACE_KRONOS
