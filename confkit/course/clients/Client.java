// A client of the conferencing service, for `confkit course check -- java Client.java`.
//
// One file, Java 11 or later, nothing but the JDK. Called as
//     java Client.java get_room room_id=00123
// it prints one line of JSON. `javac Client.java` once, and `java Client get_room ...` starts sooner.
// What the service is like stands in CONFKIT_* variables; both are described by
// `confkit course contract`.

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.CharacterCodingException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Client {
    static {
        // Without this HttpClient sends a GET again by itself when its answer is lost. Creating a
        // room is a GET, so that would make two.
        System.setProperty("jdk.httpclient.redirects.retrylimit", "1");
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> given = new LinkedHashMap<>();
        for (String word : Arrays.asList(arguments).subList(Math.min(1, arguments.length), arguments.length)) {
            int equals = word.indexOf('=');
            given.put(word.substring(0, equals), word.substring(equals + 1));
        }
        Map<String, Object> answer;
        try {
            answer = new Client().run(arguments.length > 0 ? arguments[0] : "", given);
        } catch (NoAnswer error) {
            answer = failure(null, error.getMessage());
        }
        if (answer == null) {
            System.exit(64); // an operation that this client does not know
        }
        new PrintStream(System.out, true, StandardCharsets.UTF_8).println(Json.write(answer));
        System.exit(0); // without waiting for the threads of HttpClient
    }

    // What came is not of the interface, or nothing came. Its text holds no URL: the token is in it.
    static final class NoAnswer extends Exception {
        private static final long serialVersionUID = 1;

        NoAnswer(String why) {
            super(why);
        }
    }

    private final String accessKey = setting("ACCESS_KEY");
    private final String secretKey = setting("SECRET_KEY");
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(Long.parseLong(setting("TIMEOUT")))).build();
    private final boolean json = setting("PLACEMENT").equals("json");

    private static String setting(String name) {
        String value = System.getenv("CONFKIT_" + name);
        if (value == null) {
            throw new IllegalStateException("CONFKIT_" + name + " is not set");
        }
        return value;
    }

    private Map<String, Object> run(String operation, Map<String, Object> given) throws NoAnswer {
        String outgoing = "/avd/api/outgoing/";
        switch (operation) {
            case "sign":
                return success(Map.of(
                    "digest", signature(accessKey),
                    "token", signature(given.get("random") + ":" + given.get("key"))));
            case "authenticate":
                Map<String, Object> answer = login();
                return code(answer, "A") == 0 ? success(Map.of()) : failed(answer, "A");
            case "create_room":
                return create(given);
            case "get_room":
                return tidy(ask("A", "GET", "/rtc/room/get", setting("TOKEN_PARAMETER"), given));
            // Your turn: A4, path /rtc/room/del
            case "get_mcu":
                return tidy(ask("A", "GET", "/sdk/get_mcu", setting("MCU_TOKEN_PARAMETER"), given));
            case "get_room_users":
                return tidy(ask("A", "GET", "/rtc/room/get_room_info", setting("TOKEN_PARAMETER"), given));
            // Your turn: A7, path /rtc/force_offline_mcu
            case "import_device":
                if (json && given.containsKey("options")) { // an object there, JSON text elsewhere
                    given.put("options", Json.read((String) given.get("options")));
                }
                return tidy(ask("B", setting("CREATE_METHOD"), outgoing + "createOutgoingUser", "accessToken", camel(given)));
            // Your turn: B2, path /avd/api/outgoing/destroyOutgoingUser; look at the name of its token
            case "list_devices":
                return tidy(ask("B", setting("LIST_METHOD"), outgoing + "getOutgoingUsers", "accessToken", camel(given)));
            default:
                return null;
        }
    }

    // A create whose answer was lost is not sent again: the room may be there, and is looked up.
    private Map<String, Object> create(Map<String, Object> given) throws NoAnswer {
        try {
            return tidy(ask("A", "GET", "/rtc/room/create", setting("TOKEN_PARAMETER"), given));
        } catch (NoAnswer lost) {
            Object roomId = given.get("room_extend_id");
            if (roomId == null) {
                throw lost;
            }
            Map<String, Object> found = ask("A", "GET", "/rtc/room/get", setting("TOKEN_PARAMETER"), Map.of("room_id", roomId));
            if (code(found, "A") != 0) {
                throw lost;
            }
            return success(Map.of("room_id", roomId));
        }
    }

    // The answer to a call with a token, which is renewed once where it is not taken any more.
    private Map<String, Object> ask(String interfaceName, String method, String path, String tokenName, Map<String, Object> given) throws NoAnswer {
        Map<String, Object> answer = null;
        for (int attempt = 0; attempt < 2; attempt++) {
            Map<String, Object> granted = login();
            if (code(granted, "A") != 0) {
                return failed(granted, "A");
            }
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put(tokenName, signature(granted.get("random") + ":" + granted.get("key")));
            fields.putAll(given);
            answer = send(interfaceName, method, path, fields);
            if (code(answer, interfaceName) != 602) {
                break;
            }
        }
        if (code(answer, interfaceName) != 0) {
            return failed(answer, interfaceName);
        }
        return success(interfaceName.equals("B") ? Json.object(answer.get("data")) : answer);
    }

    private Map<String, Object> login() throws NoAnswer {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("access_key", accessKey);
        fields.put("digest", signature(accessKey));
        return send("A", "GET", "/rtc/auth/valid", fields);
    }

    // base64 of the HMAC's lowercase hex text, or of its raw bytes; keys and texts are UTF-8.
    private String signature(String message) {
        try {
            String name = "Hmac" + setting("HASH").toUpperCase();
            Mac mac = Mac.getInstance(name);
            mac.init(new SecretKeySpec(secretKey.getBytes(StandardCharsets.UTF_8), name));
            byte[] raw = mac.doFinal(message.getBytes(StandardCharsets.UTF_8));
            if (setting("SIGNATURE").equals("raw")) {
                return Base64.getEncoder().encodeToString(raw);
            }
            StringBuilder hex = new StringBuilder();
            for (byte one : raw) {
                hex.append(String.format("%02x", one));
            }
            return Base64.getEncoder().encodeToString(hex.toString().getBytes(StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    // One request.
    private Map<String, Object> send(String interfaceName, String method, String path, Map<String, Object> fields) throws NoAnswer {
        String base = setting(interfaceName.equals("A") ? "BASE_URL" : "OUTGOING_URL");
        String encoded = fields.entrySet().stream()
            .map(field -> encode(field.getKey()) + "=" + encode((field.getValue() instanceof String) ? (String) field.getValue() : Json.write(field.getValue())))
            .collect(Collectors.joining("&"));
        boolean inBody = method.equals("POST") && !setting("PLACEMENT").equals("query");
        HttpRequest.BodyPublisher body = !inBody ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(json ? Json.write(fields) : encoded);
        Duration patience = Duration.ofSeconds(Long.parseLong(setting("TIMEOUT")));
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder()
                .uri(URI.create(base + path + (inBody ? "" : "?" + encoded))).timeout(patience).method(method, body);
            if (inBody) {
                request.header("Content-Type", json ? "application/json" : "application/x-www-form-urlencoded");
            }
            HttpResponse<byte[]> response = http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(response.body())).toString();
            return Json.object(Json.read(text));
        } catch (CharacterCodingException error) {
            throw new NoAnswer("the answer is not UTF-8");
        } catch (IOException error) {
            throw new NoAnswer("no answer: " + error.getClass().getSimpleName());
        } catch (InterruptedException error) {
            throw new NoAnswer("interrupted");
        }
    }

    // As it stands in a URL, encoded once; URLEncoder writes a blank as +, which is for forms only.
    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    // The result code, a number or a text; in B of older services it is called result.
    private static int code(Map<String, Object> answer, String interfaceName) throws NoAnswer {
        Object code = answer.get(interfaceName.equals("B") ? setting("RESULT_FIELD") : "ret");
        if (answer.get("ret") == null && answer.containsKey("error")) {
            code = null;
        }
        try {
            return Integer.parseInt(String.valueOf(code).trim());
        } catch (NumberFormatException error) {
            throw new NoAnswer("the answer is not of the interface: it has no result code");
        }
    }

    // What the codes of section 7 mean: 401 is another thing in A and in B.
    private static final Map<Integer, String> MEANINGS_A = Map.ofEntries(
        Map.entry(401, "authentication failed"), Map.entry(404, "room not found"),
        Map.entry(405, "licence expired"), Map.entry(407, "parameter error"),
        Map.entry(408, "HTTP request not supported"), Map.entry(409, "internal HTTP timeout"),
        Map.entry(410, "no MCU available"), Map.entry(411, "maximum licence exceeded"),
        Map.entry(416, "room closed"), Map.entry(417, "MCU not online"),
        Map.entry(428, "no MCU found to which the room was assigned"), Map.entry(429, "user not online"),
        Map.entry(504, "timeout"), Map.entry(602, "access_token incorrect"),
        Map.entry(700, "database error"), Map.entry(701, "no P2P permission"));
    private static final Map<Integer, String> MEANINGS_B = Map.ofEntries(
        Map.entry(302, "create failed"), Map.entry(303, "delete failed"), Map.entry(304, "get failed"),
        Map.entry(310, "response timeout"), Map.entry(401, "wrong parameters"),
        Map.entry(423, "user already exists"), Map.entry(425, "user does not exist"),
        Map.entry(426, "joining the room failed"), Map.entry(427, "timeout waiting for answer"),
        Map.entry(602, "access_token incorrect"));

    private static Map<String, Object> failed(Map<String, Object> answer, String interfaceName) throws NoAnswer {
        int code = code(answer, interfaceName);
        Map<Integer, String> meanings = interfaceName.equals("A") ? MEANINGS_A : MEANINGS_B;
        return failure(code, meanings.getOrDefault(code, "code " + code));
    }

    private static Map<String, Object> failure(Integer code, String meaning) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ret", code);
        answer.put("error", meaning);
        return answer;
    }

    private static Map<String, Object> success(Map<String, Object> members) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ret", 0L);
        members.forEach((name, value) -> answer.put(name, name.equals("ret") ? (Object) 0L : value));
        return answer;
    }

    private static final Map<String, String> NAMES = Map.of(
        "roomId", "room_id", "userId", "user_id", "userName", "user_name", "userAddress", "user_address", "userData", "user_data");

    private static Map<String, Object> camel(Map<String, Object> given) {
        Map<String, Object> fields = new LinkedHashMap<>(given);
        NAMES.forEach((theirs, ours) -> {
            if (fields.containsKey(ours)) {
                fields.put(theirs, fields.remove(ours));
            }
        });
        return fields;
    }

    private static final List<String> NUMBERS = List.of(
        "id", "room_status", "room_mode", "attendee_max", "max_audio", "max_video", "total");

    // In the contract's form: names in snake_case, numbers as numbers, what is absent as null.
    private static Map<String, Object> tidy(Map<String, Object> answer) {
        Map<String, Object> tidied = new LinkedHashMap<>();
        answer.forEach((theirs, value) -> {
            String name = NAMES.getOrDefault(theirs, theirs);
            if (NUMBERS.contains(name) && value instanceof String) {
                String text = ((String) value).trim();
                value = text.isEmpty() ? null : text.matches("-?[0-9]{1,18}") ? (Object) Long.valueOf(text) : text;
            } else if (List.of("host_password", "room_extend_id").contains(name) && "".equals(value)) {
                value = null;
            } else if (name.equals("items") && value instanceof List) {
                List<Object> items = new ArrayList<>();
                for (Object item : (List<?>) value) {
                    items.add(item instanceof Map ? tidy(asMap(item)) : item);
                }
                value = items;
            }
            tidied.put(name, value);
        });
        return tidied;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> asMap(Object object) {
        return (Map<String, Object>) object;
    }

    // JSON as maps, lists, texts, numbers, booleans and null.
    private static final class Json {
        private final String text;
        private int at = 0;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) throws NoAnswer {
            Json json = new Json(text);
            try {
                Object value = json.value(0);
                json.blanks();
                if (json.at == text.length()) {
                    return value;
                }
            } catch (IndexOutOfBoundsException | NumberFormatException error) {
                // told below
            }
            throw new NoAnswer("the answer is not JSON");
        }

        static Map<String, Object> object(Object value) throws NoAnswer {
            if (value instanceof Map) {
                return asMap(value);
            }
            throw new NoAnswer("the answer is not of the interface: an object is missing");
        }

        private void blanks() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private char next() {
            blanks();
            return text.charAt(at++);
        }

        private void expect(String word) throws NoAnswer {
            if (!text.startsWith(word, at)) {
                throw new NoAnswer("the answer is not JSON");
            }
            at += word.length();
        }

        private Object value(int depth) throws NoAnswer {
            if (depth > 100) {
                throw new NoAnswer("the answer is nested too deeply");
            }
            char first = next();
            switch (first) {
                case '{': {
                    Map<String, Object> members = new LinkedHashMap<>();
                    if (next() == '}') {
                        return members;
                    }
                    at--;
                    do {
                        blanks();
                        expect("\"");
                        String name = string();
                        blanks();
                        expect(":");
                        members.put(name, value(depth + 1));
                    } while (next() == ',');
                    at--;
                    expect("}");
                    return members;
                }
                case '[': {
                    List<Object> items = new ArrayList<>();
                    if (next() == ']') {
                        return items;
                    }
                    at--;
                    do {
                        items.add(value(depth + 1));
                    } while (next() == ',');
                    at--;
                    expect("]");
                    return items;
                }
                case '"':
                    return string();
                case 't':
                    expect("rue");
                    return true;
                case 'f':
                    expect("alse");
                    return false;
                case 'n':
                    expect("ull");
                    return null;
                default: {
                    int start = --at;
                    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                        at++;
                    }
                    String number = text.substring(start, at);
                    if (number.matches("-?[0-9]+")) {
                        return Long.valueOf(number);
                    }
                    return Double.valueOf(number);
                }
            }
        }

        private String string() throws NoAnswer {
            StringBuilder read = new StringBuilder();
            for (char next = text.charAt(at++); next != '"'; next = text.charAt(at++)) {
                if (next == '\\') {
                    next = text.charAt(at++);
                    int known = "bfnrt".indexOf(next);
                    if (next == 'u') {
                        next = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                        at += 4;
                    } else if (known >= 0) {
                        next = "\b\f\n\r\t".charAt(known);
                    }
                }
                read.append(next);
            }
            return read.toString();
        }

        static String write(Object value) {
            if (value instanceof Map) {
                return asMap(value).entrySet().stream()
                    .map(member -> quoted(member.getKey()) + ":" + write(member.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            }
            if (value instanceof List) {
                return ((List<?>) value).stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
            }
            return value instanceof String ? quoted((String) value) : String.valueOf(value);
        }

        private static String quoted(String text) {
            StringBuilder written = new StringBuilder("\"");
            for (char one : text.toCharArray()) {
                if (one == '"' || one == '\\') {
                    written.append('\\').append(one);
                } else if (one < ' ') {
                    written.append(String.format("\\u%04x", (int) one));
                } else {
                    written.append(one);
                }
            }
            return written.append('"').toString();
        }
    }
}
