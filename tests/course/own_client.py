"""A client of the contract in Python: `own_client.py OPERATION name=value ...`. mistakes.toml says
which changes of this text are mistakes that people make."""

import base64
import hashlib
import hmac
import json
import os
import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import quote, urlsplit

OPERATION, *WORDS = sys.argv[1:]
GIVEN = dict(word.split("=", 1) for word in WORDS)
CAMEL = {
    "room_id": "roomId",
    "user_id": "userId",
    "user_name": "userName",
    "user_address": "userAddress",
    "user_data": "userData",
}
SNAKE = {theirs: ours for ours, theirs in CAMEL.items()}
MEANINGS = {
    ("A", 401): "authentication failed",
    ("B", 401): "wrong parameters",
    ("A", 404): "room not found",
    ("A", 407): "parameter error",
    ("A", 416): "room closed",
    ("A", 602): "access_token incorrect",
}
NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video", "total")
ROUTES = {  # interface, method, path, name of the token
    "get_room": ("A", "GET", "/rtc/room/get", "TOKEN_PARAMETER"),
    "create_room": ("A", "GET", "/rtc/room/create", "TOKEN_PARAMETER"),
    "delete_room": ("A", "GET", "/rtc/room/del", "TOKEN_PARAMETER"),
    "get_room_users": ("A", "GET", "/rtc/room/get_room_info", "TOKEN_PARAMETER"),
    "force_offline": ("A", "GET", "/rtc/force_offline_mcu", "TOKEN_PARAMETER"),
    "get_mcu": ("A", "GET", "/sdk/get_mcu", "MCU_TOKEN_PARAMETER"),
    "import_device": ("B", "CREATE", "/avd/api/outgoing/createOutgoingUser", ""),
    "remove_device": ("B", "GET", "/avd/api/outgoing/destroyOutgoingUser",
                      "REMOVE_TOKEN_PARAMETER"),
    "list_devices": ("B", "LIST", "/avd/api/outgoing/getOutgoingUsers", ""),
}  # fmt: skip


def env(name):
    return os.environ["CONFKIT_" + name]


class NoAnswer(Exception):
    pass


def sign(message):
    mac = hmac.new(env("SECRET_KEY").encode(), message.encode(), getattr(hashlib, env("HASH")))
    made = mac.digest() if env("SIGNATURE") == "raw" else mac.hexdigest().encode()
    return base64.b64encode(made).decode()


def encode(name, value):
    value = value if isinstance(value, str) else json.dumps(value)
    return name + "=" + quote(value, safe="")


def send(interface, method, path, fields):
    url = urlsplit(env("BASE_URL" if interface == "A" else "OUTGOING_URL"))
    where = env("PLACEMENT") if method == "POST" else "query"
    body, headers = "&".join(encode(*field) for field in fields.items()), {}
    if where == "json":
        body, headers = json.dumps(fields), {"Content-Type": "application/json"}
    elif where == "form":
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
    else:
        path, body = f"{path}?{body}", None
    connection = HTTPConnection(url.hostname, url.port, timeout=float(env("TIMEOUT")))
    try:
        connection.request(method, path, body, headers)
        answer = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError) as error:
        raise NoAnswer(type(error).__name__) from None
    field = env("RESULT_FIELD") if interface == "B" else "ret"
    if field not in answer:
        raise NoAnswer("no result code")
    answer["ret"] = int(answer.pop(field))
    return answer


def login():
    fields = {"access_key": env("ACCESS_KEY"), "digest": sign(env("ACCESS_KEY"))}
    return send("A", "GET", "/rtc/auth/valid", fields)


def ask(operation, fields):
    interface, method, path, token = ROUTES[operation]
    method = method if method == "GET" else env(f"{method}_METHOD")
    if interface == "B":
        fields = {CAMEL.get(name, name): fields[name] for name in fields}
    if fields.get("options") and env("PLACEMENT") == "json":
        fields["options"] = json.loads(fields["options"])
    for _ in range(2):
        granted = login()
        if granted["ret"] != 0:
            return told("A", granted)
        made = sign(f"{granted['random']}:{granted['key']}")
        name = env(token) if token else "accessToken"
        answer = send(interface, method, path, {name: made, **fields})
        if answer["ret"] != 602:
            break
    return told(interface, answer)


def told(interface, answer):
    if answer["ret"] == 0:
        return {"ret": 0, **(answer.get("data", {}) if interface == "B" else answer)}
    return {"ret": answer["ret"], "error": MEANINGS.get((interface, answer["ret"]), "an error")}


def tidy(answer):
    answer = {SNAKE.get(name, name): value for name, value in answer.items()}
    for name, value in answer.items():
        if name in NUMBERS and isinstance(value, str):
            answer[name] = int(value) if value else None
        elif name in ("host_password", "room_extend_id") and value == "":
            answer[name] = None
        elif name == "items":
            answer[name] = [tidy(item) for item in value]
    return answer


def run():
    if OPERATION == "sign":
        random_key = f"{GIVEN['random']}:{GIVEN['key']}"
        return {"ret": 0, "digest": sign(env("ACCESS_KEY")), "token": sign(random_key)}
    if OPERATION == "authenticate":
        return told("A", login())
    try:
        return ask(OPERATION, GIVEN)
    except NoAnswer:
        if OPERATION != "create_room" or "room_extend_id" not in GIVEN:
            raise
        return ask("get_room", {"room_id": GIVEN["room_extend_id"]})


def main():
    if OPERATION not in (*ROUTES, "sign", "authenticate"):
        return 64
    try:
        answer = run()
    except NoAnswer as error:
        answer = {"ret": None, "error": str(error)}
    line = json.dumps(tidy(answer), ensure_ascii=False)
    sys.stdout.buffer.write(line.encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
