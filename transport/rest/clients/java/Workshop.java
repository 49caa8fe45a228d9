// Runs a small workshop with the client that openapi-generator generates from /api/openapi.json. It
// reads ATELIER_URL, ATELIER_ADMIN and ATELIER_PASSWORD.
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import okhttp3.Cookie;
import okhttp3.CookieJar;
import okhttp3.HttpUrl;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Workshop {
    /** Keeps cookies, as a browser does by itself. */
    static class Jar implements CookieJar {
        private final ConcurrentHashMap<String, Cookie> kept = new ConcurrentHashMap<>();

        @Override
        public void saveFromResponse(HttpUrl url, List<Cookie> cookies) {
            cookies.forEach(cookie -> kept.put(cookie.name(), cookie));
        }

        @Override
        public List<Cookie> loadForRequest(HttpUrl url) {
            return List.copyOf(kept.values());
        }

        /** The value of the header X-CSRF-Token. */
        String csrf() {
            Cookie cookie = kept.get("svc_csrf");
            return cookie == null ? null : cookie.value();
        }
    }

    static ApiClient client(CookieJar jar) {
        ApiClient client = new ApiClient();
        client.setHttpClient(client.getHttpClient().newBuilder().cookieJar(jar).build());
        client.setServers(List.of());
        client.setBasePath(System.getenv("ATELIER_URL") + "/api");
        return client;
    }

    static void check(boolean ok, Object about) {
        if (!ok) throw new IllegalStateException(String.valueOf(about));
    }

    public static void main(String[] args) throws Exception {
        // A facilitator logs in. With the session, the facilitator creates an API token, which
        // needs no CSRF token.
        Jar cookies = new Jar();
        ApiClient browser = client(cookies);
        new SessionApi(browser).login(
            new Login().adminId(System.getenv("ATELIER_ADMIN")).adminPw(System.getenv("ATELIER_PASSWORD")), null);
        NewToken token = new TokensApi(browser).createToken(new TokenCreate().name("Java"), cookies.csrf());
        ApiClient lead = client(CookieJar.NO_COOKIES);
        lead.setBearerToken(token.getToken());

        // The facilitator creates a codelab with two steps.
        CodelabsApi codelabs = new CodelabsApi(lead);
        String lab = codelabs.createCodelab(new CodelabCreate().title("Java"), null).getId();
        codelabs.replaceSteps(lab, new Steps().steps(List.of(
            new StepInput().title("Look around").contentMarkdown("Welcome!"),
            new StepInput().title("Try it").contentMarkdown("Your turn."))), null, null);

        // An attendee registers, reads the codelab and asks for help.
        Jar hers = new Jar();
        ApiClient ann = client(hers);
        Attendee me = new AttendeesApi(ann).registerAttendee(lab, new Register().name("Ann").code("1234"), null, null);
        List<CodelabOrSteps> read = new CodelabsApi(ann).getCodelab(lab, null, null);
        check(read.get(0).getCodelab().getTitle().equals("Java"), read);
        new HelpApi(ann).askHelp(lab, new HelpAsk().stepNumber(2).message("It does not start."), null, hers.csrf());
        List<HelpRequest> queue = new HelpApi(lead).listHelp(lab, null, null);
        check(queue.size() == 1 && queue.get(0).getAttendeeId().equals(me.getId()), queue);

        // The attendee sends a chat message. If its answer is lost, a client sends the message
        // again with the same ref: it is stored once, and both acks are the same.
        LiveApi live = new LiveApi(ann);
        Welcome welcome = live.postMessage(
            lab, new ClientMessage().type(ClientMessage.TypeEnum.HELLO), null, hers.csrf()).getWelcome();
        ClientMessage chat = new ClientMessage().type(ClientMessage.TypeEnum.CHAT).message("It works!").ref("chat");
        Ack first = live.postMessage(lab, chat, null, hers.csrf()).getAck();
        Ack again = live.postMessage(lab, chat, null, hers.csrf()).getAck();
        check(first.getSeq().equals(again.getSeq()), again);

        // The stream replays messages after the position of the welcome.
        okhttp3.Call events = live.streamEventsCall(lab, null, welcome.getEpoch(), welcome.getHead(), null, null);
        try (okhttp3.Response stream = events.execute()) {
            String line = "";
            while (!line.contains("\"It works!\"")) {
                line = stream.body().source().readUtf8LineStrict();
            }
            check(line.startsWith("data: "), line);
        }
        System.out.println("held");
        System.exit(0); // ends the program, although okhttp keeps threads
    }
}
