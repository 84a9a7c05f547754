// Receiver.java: java Receiver.java (17 or newer)
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final String SECRET = System.getenv("WEBHOOK_SECRET");
    static final long TOLERANCE_SECONDS = 300;
    static final Set<String> seen = ConcurrentHashMap.newKeySet(); // In production: a unique key in your database.

    static byte[] mac(byte[] key, byte[]... parts) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (byte[] part : parts) mac.update(part);
        return mac.doFinal();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String header(Headers headers, String name) {
        String value = headers.getFirst(name);
        return value == null ? "" : value;
    }

    static boolean webhookSignatureFits(Headers headers, byte[] body) throws GeneralSecurityException {
        String timestamp = header(headers, "webhook-timestamp");
        if (!timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
        byte[] key = Base64.getDecoder().decode(SECRET.substring("whsec_".length()));
        byte[] head = bytes(header(headers, "webhook-id") + "." + timestamp + ".");
        String expected = "v1," + Base64.getEncoder().encodeToString(mac(key, head, body));
        for (String signature : header(headers, "webhook-signature").split(" ")) {
            if (MessageDigest.isEqual(bytes(signature), bytes(expected))) return true;
        }
        return false;
    }

    static boolean serviceSignatureFits(Headers headers, byte[] body) throws GeneralSecurityException {
        String expected = HexFormat.of().formatHex(mac(bytes(SECRET), body));
        return MessageDigest.isEqual(bytes(header(headers, "X-Service-Signature")), bytes(expected));
    }

    public static void main(String[] arguments) throws Exception {
        boolean isService = "service".equals(System.getenv("WEBHOOK_SCHEME"));
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", exchange -> {
            int status = 401;
            try {
                byte[] body = exchange.getRequestBody().readAllBytes();
                Headers headers = exchange.getRequestHeaders();
                if (isService ? serviceSignatureFits(headers, body) : webhookSignatureFits(headers, body)) {
                    if (seen.add(header(headers, "webhook-id"))) System.out.println(new String(body, StandardCharsets.UTF_8));
                    status = 204;
                }
            } catch (GeneralSecurityException exception) {
                status = 500;
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
