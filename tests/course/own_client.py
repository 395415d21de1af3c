"""A client of the contract in Python that makes one mistake on purpose: `own_client.py MISTAKE
OPERATION name=value ...`; with the mistake `none` it makes none."""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException
from urllib.parse import quote, urlsplit

MISTAKE, OPERATION, *WORDS = sys.argv[1:]
GIVEN = dict(word.split("=", 1) for word in WORDS)
CAMEL = {
    "room_id": "roomId",
    "user_id": "userId",
    "user_name": "userName",
    "user_address": "userAddress",
    "user_data": "userData",
}
MEANINGS = {
    ("A", 401): "authentication failed",
    ("B", 401): "wrong parameters",
    ("A", 404): "room not found",
    ("A", 407): "parameter error",
    ("A", 416): "room closed",
    ("A", 602): "access_token incorrect",
}
NUMBERS = ("id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video", "total")


def wrong(mistake):
    return mistake == MISTAKE


def env(name):
    return os.environ["CONFKIT_" + name]


class NoAnswer(Exception):
    pass


def sign(message):
    mac = hmac.new(env("SECRET_KEY").encode(), message.encode(), getattr(hashlib, env("HASH")))
    raw = env("SIGNATURE") == "raw" or wrong("raw")
    return base64.b64encode(mac.digest() if raw else mac.hexdigest().encode()).decode()


def encode(name, value):
    value = value if isinstance(value, str) else json.dumps(value)
    if wrong("encoded twice") and name.endswith(("oken", "ocken")):
        value = quote(value, safe="")
    if wrong("not encoded"):
        return f"{name}={value.replace(' ', '%20')}"
    if wrong("plus not encoded"):
        return f"{name}={quote(value, safe='+')}"
    if wrong("latin-1"):
        return f"{name}={quote(value.encode('latin-1', 'replace'), safe='')}"
    return f"{name}={quote(value, safe='')}"


def send(interface, method, path, fields):
    url = urlsplit(env("BASE_URL" if interface == "A" else "OUTGOING_URL"))
    where = env("PLACEMENT") if method == "POST" else "query"
    if wrong("always in the query"):
        where = "query"
    body, headers = None, {}
    text = "&".join(encode(*field) for field in fields.items())
    if where == "json":
        kind = "x-www-form-urlencoded" if wrong("form type for all") else "json"
        body, headers = json.dumps(fields), {"Content-Type": f"application/{kind}"}
    elif where == "form":
        body, headers = text, {"Content-Type": "application/x-www-form-urlencoded"}
    else:
        path += "?" + text
    patience = 7 if wrong("waits too long") else float(env("TIMEOUT"))
    connection = HTTPConnection(url.hostname, url.port, timeout=patience)
    try:
        connection.request(method, path, body, headers)
        answer = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError) as error:
        if wrong("token in the log"):
            print(path, file=sys.stderr)
        if wrong("token alone in the log"):
            print("sent", next(iter(fields.values())), file=sys.stderr)
        if wrong("crashes when late"):
            sys.exit(3)
        if wrong("traceback"):
            raise
        if wrong("empty for a failure"):
            return {"ret": 0, "user_list": []}
        raise NoAnswer(type(error).__name__) from None
    field = env("RESULT_FIELD") if interface == "B" and not wrong("only ret") else "ret"
    if field not in answer:
        raise NoAnswer("no result code")
    answer["ret"] = answer.pop(field)
    if not wrong("ret as it came"):
        answer["ret"] = int(answer["ret"])
    return answer


def login():
    if wrong("digest in the log"):
        print(quote(sign(env("ACCESS_KEY"))), file=sys.stderr)
    return send(
        "A",
        "GET",
        "/rtc/auth/valid",
        {"access_key": env("ACCESS_KEY"), "digest": sign(env("ACCESS_KEY"))},
    )


def token(granted):
    if wrong("digest for token"):
        return sign(env("ACCESS_KEY"))
    return sign(f"{granted['random']}:{granted['key']}")


def ask(interface, method, path, name, fields):
    granted = login()
    made = ""
    for _ in range(5 if wrong("five times") else 1 if wrong("602 not renewed") else 2):
        if granted["ret"] != 0:
            return told("A", granted)
        made = made if made and wrong("same token again") else token(granted)
        answer = send(interface, method, path, {name: made, **fields})
        if answer["ret"] != 602:
            break
        granted = granted if wrong("same token again") else login()
    return told(interface, answer)


def told(interface, answer):
    if answer["ret"] == 0:
        return {"ret": 0, **(answer.get("data", {}) if interface == "B" else answer)}
    if wrong("empty for 404") and answer["ret"] == 404:
        return {"ret": 0, "user_list": []}
    table = "A" if wrong("one table") else interface
    return {"ret": answer["ret"], "error": MEANINGS.get((table, answer["ret"]), "an error")}


def tidy(answer):
    back = {theirs: ours for ours, theirs in CAMEL.items()}
    answer = {
        name if wrong("camelCase") else back.get(name, name): value
        for name, value in answer.items()
    }
    for name, value in answer.items():
        if name in NUMBERS and isinstance(value, str) and not wrong("numbers as text"):
            answer[name] = int(value) if value else None
        elif name in ("host_password", "room_extend_id") and value == "":
            answer[name] = "" if wrong("empty for null") else None
        elif name == "room_id" and wrong("room number") and value.isdecimal():
            answer[name] = int(value)
        elif name == "items":
            answer[name] = [tidy(item) for item in value]
    return answer


def run():
    if wrong("sends what is absent"):
        absent = {"create_room": "attendee_max", "import_device": "options"}
        if OPERATION in absent:
            GIVEN.setdefault(absent[OPERATION], "")
    a, b = env("TOKEN_PARAMETER"), {CAMEL.get(name, name): GIVEN[name] for name in GIVEN}
    if wrong("usual token name"):
        a = "access_token"
    if OPERATION == "sign":
        random_key = f"{GIVEN['random']}:{GIVEN['key']}"
        return {"ret": 0, "digest": sign(env("ACCESS_KEY")), "token": sign(random_key)}
    if OPERATION == "authenticate":
        answers = [login() for _ in range(3 if wrong("tries three times") else 1)]
        return {"ret": 0} if answers[-1]["ret"] == 0 else told("A", answers[-1])
    if OPERATION == "create_room":
        return create(a)
    rooms = {
        "get_room": "/rtc/room/get",
        "delete_room": "/rtc/room/del",
        "get_room_users": "/rtc/room/get_room_info",
        "force_offline": "/rtc/force_offline_mcu",
    }
    if wrong("deletes nothing"):
        rooms["delete_room"] = "/rtc/room/get"
    if OPERATION in rooms:
        path = rooms[OPERATION] + ("/" if wrong("slash at the end") else "")
        return ask("A", "GET", path, a, GIVEN)
    if OPERATION == "get_mcu":
        return ask("A", "GET", "/sdk/get_mcu", env("MCU_TOKEN_PARAMETER"), GIVEN)
    path = "/avd/api/outgoing/"
    if OPERATION == "import_device":
        if b.get("options") and env("PLACEMENT") == "json" and not wrong("options as text"):
            b["options"] = json.loads(b["options"])
        if wrong("login beside options"):
            b |= json.loads(b.pop("options"))
        name = "access_token" if wrong("access_token in B1") else "accessToken"
        method = "GET" if wrong("GET for all") else env("CREATE_METHOD")
        return ask("B", method, path + "createOutgoingUser", name, b)
    if OPERATION == "remove_device":
        name = env("REMOVE_TOKEN_PARAMETER")
        for spelling in ("access_token", "accessToken"):
            name = spelling if wrong(f"{spelling} in B2") else name
        return ask("B", "GET", path + "destroyOutgoingUser", name, b)
    if OPERATION == "list_devices":
        return ask("B", env("LIST_METHOD"), path + "getOutgoingUsers", "accessToken", b)
    return None


def create(name):
    if wrong("counts 149 as too long") and len(GIVEN["topic"].encode()) >= 149:
        return {"ret": 407, "error": "too long"}
    try:
        return ask("A", "GET", "/rtc/room/create", name, GIVEN)
    except NoAnswer:
        if wrong("creates again"):
            return ask("A", "GET", "/rtc/room/create", name, GIVEN)
        if "room_extend_id" not in GIVEN or wrong("does not look"):
            raise
        fields = {"room_id": GIVEN["room_extend_id"]}
        return ask("A", "GET", "/rtc/room/get", name, fields)


def main():
    if wrong("hangs"):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        time.sleep(600)
    if wrong("chatters"):
        print("logging in ...")
    try:
        answer = run()
    except NoAnswer as error:
        answer = {"ret": None, "error": str(error)}
    if answer is None or wrong(f"no {OPERATION}"):
        return 64
    if wrong("no words"):
        answer.pop("error", None)
    if wrong("byte order mark"):
        sys.stdout.buffer.write(b"\xef\xbb\xbf")
    line = json.dumps(tidy(answer), ensure_ascii=wrong("ascii"))
    if wrong("secret in the log"):
        print("signing with", env("SECRET_KEY"), file=sys.stderr)
    if wrong("question marks"):
        line = line.encode("ascii", "replace").decode()
    sys.stdout.buffer.write(line.encode("utf-16" if wrong("utf-16") else "utf-8") + b"\n")
    return 1 if wrong("status 1") and answer["ret"] != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
