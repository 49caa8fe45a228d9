// Command workshop runs a small workshop with the client that ogen generates from
// /api/openapi.json. It reads the server's URL and the administrator's login from ATELIER_URL,
// ATELIER_ADMIN and ATELIER_PASSWORD.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"

	"workshop/atelier"
)

var (
	ctx    = context.Background()
	server = os.Getenv("ATELIER_URL") + "/api"
)

// proof authenticates a client by an API token, or by cookies and their CSRF token.
type proof struct {
	token string
	jar   http.CookieJar
}

func (p proof) cookie(name string) string {
	at, err := url.Parse(server)
	if err != nil || p.jar == nil {
		return ""
	}
	for _, c := range p.jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (p proof) TokenAuth(context.Context, atelier.OperationName) (atelier.TokenAuth, error) {
	if p.token == "" {
		return atelier.TokenAuth{}, ogenerrors.ErrSkipClientSecurity
	}
	return atelier.TokenAuth{Token: p.token}, nil
}

func (p proof) SessionAuth(context.Context, atelier.OperationName) (atelier.SessionAuth, error) {
	if value := p.cookie("svc_session"); value != "" {
		return atelier.SessionAuth{APIKey: value}, nil
	}
	return atelier.SessionAuth{}, ogenerrors.ErrSkipClientSecurity
}

func (p proof) CsrfAuth(context.Context, atelier.OperationName) (atelier.CsrfAuth, error) {
	if value := p.cookie("svc_csrf"); value != "" {
		return atelier.CsrfAuth{APIKey: value}, nil
	}
	return atelier.CsrfAuth{}, ogenerrors.ErrSkipClientSecurity
}

func (p proof) CheckAuth(context.Context, atelier.OperationName) (atelier.CheckAuth, error) {
	return atelier.CheckAuth{}, ogenerrors.ErrSkipClientSecurity
}

func (p proof) PasswordAuth(context.Context, atelier.OperationName) (atelier.PasswordAuth, error) {
	return atelier.PasswordAuth{}, ogenerrors.ErrSkipClientSecurity
}

// client returns a client that authenticates with p.
func client(p proof) *atelier.Client {
	keeping := &http.Client{Transport: keep{p}}
	c, err := atelier.NewClient(server, p, atelier.WithClient(keeping))
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// keep stores the cookies of answers in the jar, and adds the CSRF cookie to requests. proof adds
// the session cookie and the header with the same CSRF token.
type keep struct{ proof }

func (k keep) RoundTrip(r *http.Request) (*http.Response, error) {
	if value := k.cookie("svc_csrf"); value != "" {
		r = r.Clone(r.Context())
		r.AddCookie(&http.Cookie{Name: "svc_csrf", Value: value})
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && k.jar != nil {
		k.jar.SetCookies(r.URL, res.Cookies())
	}
	return res, err
}

// browser returns a client with its own cookies.
func browser() (*atelier.Client, http.CookieJar) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	return client(proof{jar: jar}), jar
}

// is returns the answer as a T, and exits if it has another type.
func is[T any](answer any, err error) T {
	t, ok := answer.(T)
	if err != nil || !ok {
		log.Output(2, fmt.Sprintf("%T %+v, %v", answer, answer, err))
		os.Exit(1)
	}
	return t
}

func main() {
	log.SetFlags(log.Lshortfile)

	// A facilitator logs in. With the session, the facilitator creates an API token.
	facilitator, _ := browser()
	is[*atelier.StatusHeaders](facilitator.Login(ctx, &atelier.Login{AdminID: os.Getenv("ATELIER_ADMIN"), AdminPw: os.Getenv("ATELIER_PASSWORD")}, atelier.LoginParams{}))
	token := is[*atelier.NewTokenHeaders](facilitator.CreateToken(ctx, &atelier.TokenCreate{Name: "ogen"}, atelier.CreateTokenParams{}))
	lead := client(proof{token: token.Response.Token})

	// The facilitator creates a codelab with two steps.
	codelab := is[*atelier.CodelabHeaders](lead.CreateCodelab(ctx, &atelier.CodelabCreate{Title: "ogen"}, atelier.CreateCodelabParams{}))
	lab := string(codelab.Response.ID)
	steps := &atelier.Steps{Steps: []atelier.StepInput{
		{Title: "Look around", ContentMarkdown: "Welcome!"}, {Title: "Try it", ContentMarkdown: "Your turn."},
	}}
	is[*atelier.ReplaceStepsOKHeaders](lead.ReplaceSteps(ctx, steps, atelier.ReplaceStepsParams{ID: lab}))

	// An attendee registers and asks for help.
	ann, jar := browser()
	me := is[*atelier.RegisterAttendeeOKHeaders](ann.RegisterAttendee(ctx, &atelier.Register{Name: "Ann", Code: atelier.NewOptString("1234")}, atelier.RegisterAttendeeParams{ID: lab}))
	is[*atelier.HelpAskedHeaders](ann.AskHelp(ctx, &atelier.HelpAsk{StepNumber: atelier.NewOptInt(1), Message: atelier.NewOptString("It does not start.")}, atelier.AskHelpParams{ID: lab}))
	queue := is[*atelier.ListHelpOKHeaders](lead.ListHelp(ctx, atelier.ListHelpParams{ID: lab}))
	if len(queue.Response) != 1 || queue.Response[0].AttendeeID != me.Response.ID {
		log.Fatalf("the queue is %+v", queue.Response)
	}

	// The attendee sends a chat message. If its answer is lost, a client sends the message again
	// with the same ref: it is stored once, and both acks are the same.
	say := func(m atelier.ClientMessage) atelier.PostMessageOK {
		return is[*atelier.PostMessageOKHeaders](ann.PostMessage(ctx, &m, atelier.PostMessageParams{ID: lab})).Response
	}
	welcome, ok := say(atelier.ClientMessage{Type: atelier.ClientMessageTypeHello}).GetWelcome()
	chat := atelier.ClientMessage{Type: atelier.ClientMessageTypeChat, Message: atelier.NewOptString("It works!"), Ref: atelier.NewOptString("chat")}
	first, sent := say(chat).GetAck()
	again, sentAgain := say(chat).GetAck()
	if !ok || !sent || !sentAgain || first.Seq != again.Seq {
		log.Fatalf("the acks are %+v and %+v", first, again)
	}

	// The stream replays messages after the position of the welcome. The ogen client waits for the
	// end of an answer, so this program reads the stream with net/http.
	place := url.Values{"epoch": {welcome.Epoch}, "since": {fmt.Sprint(welcome.Head)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/codelabs/"+lab+"/events?"+place.Encode(), nil)
	if err != nil {
		log.Fatal(err)
	}
	events, err := (&http.Client{Jar: jar}).Do(request)
	if err != nil || events.StatusCode != http.StatusOK {
		log.Fatal(events, err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"It works!"`) {
	}
	if !strings.HasPrefix(lines.Text(), "data: ") {
		log.Fatal("the stream ended: ", lines.Err())
	}
	fmt.Println("held")
}
