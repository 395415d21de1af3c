#!/bin/sh
# A client of the conferencing service, for `confkit course check -- sh client.sh`.
#
# Needs curl, openssl, awk, sed and a POSIX shell, and nothing else. Called as
#     sh client.sh get_room room_id=00123
# it prints one line of JSON. What the service is like stands in CONFKIT_* variables; both are
# described by `confkit course contract`.
#
# openssl takes the secret key as an argument, which other users of this machine can see while it
# runs. Tokens and passwords go to curl through its standard input, which nobody sees.
set -u
token=

# A text as it stands between the quotes of JSON, and of curl's configuration.
quoted() {
    printf '%s\n' "$1" | sed -e 's/[\\"]/\\&/g' -e 's/	/\\t/g' -e '$!s/$/\\n/' | tr -d '\n'
}

# base64 of the HMAC's lowercase hex text, or of its raw bytes. printf adds no newline to the text.
signature() {
    if [ "$CONFKIT_SIGNATURE" = raw ]; then
        printf '%s' "$1" | openssl dgst "-$CONFKIT_HASH" -hmac "$CONFKIT_SECRET_KEY" -binary |
            openssl base64 -A
    else
        printf '%s' "$1" | openssl dgst "-$CONFKIT_HASH" -hmac "$CONFKIT_SECRET_KEY" -hex |
            sed 's/^.*= *//' | tr -d '\n' | openssl base64 -A
    fi
}

# Reads an answer of the service. Prints it in the contract's form: numbers as numbers, what is
# absent as null, names in snake_case, what an error means by the table of its interface. With
# member=NAME it prints that member alone. Ends with 1 where the answer is not of the interface.
reading='
function blanks() { while (substr(text, at, 1) ~ /^[ \t\r\n]$/) at++ }
function fail() { bad = 1; at = length(text) + 1; return "null" }
function string(    raw) {
    if (!match(substr(text, at), /^"([^"\\]|\\.)*"/)) return fail()
    raw = substr(text, at, RLENGTH); at += RLENGTH
    return raw
}
function bare(raw) { return raw ~ /^"/ ? substr(raw, 2, length(raw) - 2) : raw }
function typed(name, raw) {
    if (name in number) return bare(raw) == "" ? "null" : bare(raw) ~ /^-?[0-9]+$/ ? bare(raw) : raw
    if (name in absent && raw == "\"\"") return "null"
    if (name in id && raw !~ /^["n]/) return "\"" raw "\""
    return raw
}
function value(name, depth, plain,    c, end, out, key, item, more) {
    blanks(); c = substr(text, at, 1)
    if (c == "{" || c == "[") {
        end = c == "{" ? "}" : "]"; out = ""; at++; blanks()
        if (substr(text, at, 1) == end) { at++; return c end }
        do {
            blanks()
            if (c == "{") {
                key = bare(string()); blanks()
                if (substr(text, at++, 1) != ":") return fail()
                if (!plain && key in snake) key = snake[key]
                item = value(key, depth + 1, plain || key == "options")
                if (!depth) top[key] = item
                if (depth || key != "ret") out = out ",\"" key "\":" item
            } else out = out "," value("", depth + 1, plain)
            blanks(); more = substr(text, at++, 1)
        } while (more == "," && !bad)
        return more == end ? c substr(out, 2) end : fail()
    }
    if (c == "\"") out = string()
    else if (match(substr(text, at), /^(-?[0-9][0-9.eE+-]*|true|false|null)/)) {
        out = substr(text, at, RLENGTH); at += RLENGTH
    } else return fail()
    return plain ? out : typed(name, out)
}
function set(list, into,    words, n) { n = split(list, words, " "); while (n) into[words[n--]] }
{ text = text $0 "\n" }
END {
    set("ret result id room_status room_mode attendee_max max_audio max_video total", number)
    set("host_password room_extend_id", absent)
    set("room_id user_id owner_id", id)
    snake["roomId"] = "room_id"; snake["userId"] = "user_id"; snake["userName"] = "user_name"
    snake["userAddress"] = "user_address"; snake["userData"] = "user_data"
    rows = split(meanings, row, "|")
    for (n = 1; n <= rows; n++) meaning[row[n] + 0] = substr(row[n], 5)
    at = 1
    answer = value("", 0, 0); blanks()
    code = field in top ? top[field] : ""
    if (bad || at <= length(text) || code !~ /^-?[0-9]+$/) exit 1
    if (member != "") print bare(top[member])
    else if (code != 0) {
        told = code in meaning ? "\"" meaning[code] "\"" : "\"code " code "\""
        print "{\"ret\":" code ",\"error\":" told "}"
    } else {
        rest = outgoing ? top["data"] : answer
        print "{\"ret\":0" (length(rest) > 2 ? "," substr(rest, 2) : "}")
    }
}'
meanings_a='401 authentication failed|404 room not found|405 licence expired|407 parameter error|408 HTTP request not supported|409 internal HTTP timeout|410 no MCU available|411 maximum licence exceeded|416 room closed|417 MCU not online|428 no MCU found to which the room was assigned|429 user not online|504 timeout|602 access_token incorrect|700 database error|701 no P2P permission'
meanings_b='302 create failed|303 delete failed|304 get failed|310 response timeout|401 wrong parameters|423 user already exists|425 user does not exist|426 joining the room failed|427 timeout waiting for answer|602 access_token incorrect'

# send INTERFACE METHOD PATH name=value ...: `body` is what came, `answer` that in our form.
send() {
    interface=$1 method=$2 path=$3
    shift 3
    if [ "$interface" = A ]; then
        url=$CONFKIT_BASE_URL$path field=ret outgoing= meanings=$meanings_a
    else
        url=$CONFKIT_OUTGOING_URL$path field=$CONFKIT_RESULT_FIELD outgoing=1 meanings=$meanings_b
    fi
    if body=$(request "$method" "$url" "$@" | curl --silent --config - 2>&1); then
        answer=$(printf '%s' "$body" |
            awk -v field="$field" -v outgoing="$outgoing" -v meanings="$meanings" "$reading") ||
            answer='{"ret":null,"error":"the answer is not of the interface"}'
    else
        answer='{"ret":null,"error":"no answer: curl ended with '$?'"}'
    fi
}

# The request as curl's configuration: in the query, as a form, or as JSON.
request() {
    method=$1
    printf 'url = "%s"\nmax-time = %s\n' "$2" "$CONFKIT_TIMEOUT"
    shift 2
    if [ "$method" = POST ] && [ "$CONFKIT_PLACEMENT" = json ]; then
        members=
        for word; do
            case $word in
            options=*) members="$members,\"options\":${word#*=}" ;; # an object already
            *) members="$members,\"${word%%=*}\":\"$(quoted "${word#*=}")\"" ;;
            esac
        done
        printf 'header = "Content-Type: application/json"\n'
        printf 'data-raw = "%s"\n' "$(quoted "{${members#,}}")"
        return
    fi
    if [ "$method" = GET ] || [ "$CONFKIT_PLACEMENT" = query ]; then
        printf 'get\nrequest = "%s"\n' "$method"
    fi
    for word; do
        printf 'data-urlencode = "%s"\n' "$(quoted "$word")" # encoded once, by curl
    done
}

# Fills `token`; where that fails, `answer` says why.
login() {
    send A GET /rtc/auth/valid "access_key=$CONFKIT_ACCESS_KEY" \
        "digest=$(signature "$CONFKIT_ACCESS_KEY")"
    case $answer in '{"ret":0'*) ;; *) return 1 ;; esac
    random=$(printf '%s' "$body" | awk -v field=ret -v member=random "$reading")
    key=$(printf '%s' "$body" | awk -v field=ret -v member=key "$reading")
    token=$(signature "$random:$key")
}

# ask INTERFACE METHOD PATH TOKEN_NAME name=value ...: as `send`, with the token, which is renewed
# once where the service does not take it any more.
ask() {
    to=$1 by=$2 at=$3 token_name=$4
    shift 4
    login || return 0
    send "$to" "$by" "$at" "$token_name=$token" "$@"
    case $answer in '{"ret":602,'*)
        login && send "$to" "$by" "$at" "$token_name=$token" "$@" ;;
    esac
}

# The value of one of the words name=value; 1 where it is not among them.
argument() {
    wanted=$1
    shift
    for word; do
        case $word in "$wanted"=?*) printf '%s' "${word#*=}" && return 0 ;; esac
    done
    return 1
}

# A create whose answer was lost is not sent again: the room may be there, and is looked up.
create() {
    ask A GET /rtc/room/create "$CONFKIT_TOKEN_PARAMETER" "$@"
    case $answer in '{"ret":null,'*) ;; *) return ;; esac
    extend=$(argument room_extend_id "$@") || return
    unknown=$answer
    ask A GET /rtc/room/get "$CONFKIT_TOKEN_PARAMETER" "room_id=$extend"
    case $answer in
    '{"ret":0'*) answer="{\"ret\":0,\"room_id\":\"$(quoted "$extend")\"}" ;;
    *) answer=$unknown ;;
    esac
}

operation=${1-}
[ $# -gt 0 ] && shift
case $operation in import_device | remove_device | list_devices) # interface B spells otherwise
    for word; do
        shift
        case $word in
        room_id=*) word=roomId=${word#*=} ;;
        user_id=*) word=userId=${word#*=} ;;
        user_name=*) word=userName=${word#*=} ;;
        user_address=*) word=userAddress=${word#*=} ;;
        user_data=*) word=userData=${word#*=} ;;
        esac
        set -- "$@" "$word"
    done ;;
esac
outgoing_path=/avd/api/outgoing
case $operation in
sign)
    answer="{\"ret\":0,\"digest\":\"$(signature "$CONFKIT_ACCESS_KEY")\",\"token\":\"$(
        signature "$(argument random "$@"):$(argument key "$@")")\"}" ;;
authenticate) login && answer='{"ret":0}' ;;
create_room) create "$@" ;;
get_room) ask A GET /rtc/room/get "$CONFKIT_TOKEN_PARAMETER" "$@" ;;
# Your turn: A4, path /rtc/room/del
get_mcu) ask A GET /sdk/get_mcu "$CONFKIT_MCU_TOKEN_PARAMETER" "$@" ;;
get_room_users) ask A GET /rtc/room/get_room_info "$CONFKIT_TOKEN_PARAMETER" "$@" ;;
# Your turn: A7, path /rtc/force_offline_mcu
import_device) ask B "$CONFKIT_CREATE_METHOD" "$outgoing_path/createOutgoingUser" accessToken "$@" ;;
# Your turn: B2, path /avd/api/outgoing/destroyOutgoingUser; look at the name of its token
list_devices) ask B "$CONFKIT_LIST_METHOD" "$outgoing_path/getOutgoingUsers" accessToken "$@" ;;
*) exit 64 ;; # an operation that this client does not know
esac
printf '%s\n' "$answer"
