// Command workshop runs a small workshop with the client that oapi-codegen generates from
// /api/openapi.json. It reads the server's URL and the administrator's login from ATELIER_URL,
// ATELIER_ADMIN and ATELIER_PASSWORD.
package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"os"

	"workshop/atelier"
)

var (
	ctx    = context.Background()
	server = os.Getenv("ATELIER_URL")
)

func main() {
	log.SetFlags(log.Lshortfile)

	// A facilitator logs in, and the cookie jar keeps the session. With this session the
	// facilitator creates an API token, which needs no CSRF token.
	browser := session()
	in, err := browser.LoginWithResponse(ctx, nil, atelier.Login{AdminId: os.Getenv("ATELIER_ADMIN"), AdminPw: os.Getenv("ATELIER_PASSWORD")})
	expect(in, err)
	token, err := browser.CreateTokenWithResponse(ctx, nil, atelier.TokenCreate{Name: "Go"})
	expect(token, err)
	lead := client(&http.Client{}, func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token.JSON200.Token)
		return nil
	})

	// The facilitator creates a codelab with two steps and a question.
	codelab, err := lead.CreateCodelabWithResponse(ctx, nil, atelier.CodelabCreate{Title: "Go", QuizEnabled: to(true)})
	expect(codelab, err)
	lab := codelab.JSON200.Id
	steps := atelier.Steps{Steps: []atelier.StepInput{
		{Title: "Look around", ContentMarkdown: "Welcome!"},
		{Title: "Try it", ContentMarkdown: "Your turn."},
	}}
	expect(lead.ReplaceStepsWithResponse(ctx, lab, nil, steps))
	quiz, err := lead.ReplaceQuizzesWithResponse(ctx, lab, nil, []atelier.QuizInput{{
		Question: "Six times seven?", QuizType: atelier.QuizInputQuizTypeMultipleChoice,
		Options: &[]string{"41", "42"}, CorrectAnswer: to(1),
	}})
	expect(quiz, err)

	// An attendee registers and reads the codelab. The answer is an array of the codelab and its
	// steps.
	ann := session()
	me, err := ann.RegisterAttendeeWithResponse(ctx, lab, nil, atelier.Register{Name: "Ann", Code: to("1234")})
	expect(me, err)
	read, err := ann.GetCodelabWithResponse(ctx, lab, nil)
	expect(read, err)
	about, err := (*read.JSON200)[0].AsCodelab()
	assert(err == nil && about.Title == "Go", "the codelab is", about, err)
	shown, err := (*read.JSON200)[1].AsCodelabOrSteps1()
	assert(err == nil && len(shown) == 2 && shown[1].Title == "Try it", "the steps are", shown, err)

	// The attendee sends a chat message. If its answer is lost, a client sends the message again
	// with the same ref: it is stored once, and both acks are the same. The stream replays messages
	// after the position of the welcome.
	hello, err := ann.PostMessageWithResponse(ctx, lab, nil, atelier.ClientMessage{Type: atelier.ClientMessageTypeHello})
	expect(hello, err)
	welcome, err := hello.JSON200.AsWelcome()
	assert(err == nil, "the welcome is", string(hello.Body), err)
	var seqs []int64
	for range 2 {
		sent, err := ann.PostMessageWithResponse(ctx, lab, nil, atelier.ClientMessage{
			Type: atelier.ClientMessageTypeChat, Message: to("It works!"), Ref: to("chat"),
		})
		expect(sent, err)
		ack, err := sent.JSON200.AsAck()
		assert(err == nil, "the ack is", string(sent.Body), err)
		seqs = append(seqs, int64(ack.Seq))
	}
	missed := resume(ann, lab, welcome.Epoch, int64(welcome.Head))
	assert(seqs[0] == seqs[1] && missed.Seq == seqs[0] && missed.Message == "It works!", "missed", missed, "acks", seqs)

	// The attendee moves to the second step, asks for help and answers the question.
	moved, err := ann.PostMessageWithResponse(ctx, lab, nil, atelier.ClientMessage{
		Type: atelier.ClientMessageTypeStepProgress, StepNumber: to(2), Ref: to("move"),
	})
	expect(moved, err)
	ack, err := moved.JSON200.AsAck()
	assert(err == nil && ack.Ref != nil && *ack.Ref == "move", "the ack is", ack, err)
	expect(ann.AskHelpWithResponse(ctx, lab, nil, atelier.HelpAsk{StepNumber: to(2), Message: to("It does not start.")}))
	queue, err := lead.ListHelpWithResponse(ctx, lab, nil)
	expect(queue, err)
	assert(len(*queue.JSON200) == 1 && (*queue.JSON200)[0].AttendeeId == me.JSON200.Id, "the queue is", *queue.JSON200)
	result, err := ann.SubmitQuizWithResponse(ctx, lab, nil, atelier.QuizSubmit{
		Submissions: []atelier.QuizAnswer{{QuizId: (*quiz.JSON200)[0].Id, Answer: "1"}},
	})
	expect(result, err)
	assert(result.JSON200.Passed, "the answer is wrong")

	// The attendee submits a file. Attendee and facilitator read the same bytes.
	content := make([]byte, 4096)
	rand.Read(content)
	content = append(content, "\r\n--\xff\xfe\x00"...)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	file, err := parts.CreateFormFile("file", "work.bin")
	if err == nil {
		_, err = file.Write(content)
	}
	assert(err == nil && parts.Close() == nil, err)
	work, err := ann.SubmitFileWithBodyWithResponse(ctx, lab, me.JSON200.Id, nil, parts.FormDataContentType(), &form)
	expect(work, err)
	for _, who := range []*atelier.ClientWithResponses{ann, lead} {
		stored, err := who.GetSubmissionFileWithResponse(ctx, lab, me.JSON200.Id, work.JSON200.Id, nil)
		expect(stored, err)
		assert(bytes.Equal(stored.Body, content), "the file was changed")
	}
	expect(ann.CompleteWithResponse(ctx, lab, nil))

	// The facilitator downloads everything as a ZIP.
	archive, err := lead.ExportAllWithResponse(ctx, lab)
	expect(archive, err)
	z, err := zip.NewReader(bytes.NewReader(archive.Body), int64(len(archive.Body)))
	assert(err == nil, err)
	found := false
	for _, f := range z.File {
		r, err := f.Open()
		assert(err == nil, err)
		b, err := io.ReadAll(r)
		assert(err == nil, f.Name, err)
		found = found || bytes.Equal(b, content)
	}
	assert(found, "the file is not in the archive")
	fmt.Println("held")
}

// chat is a message of the stream. This program reads only these members.
type chat struct {
	Type, Message string
	Seq           int64
}

// resume reads the stream of server-sent events after a position until a chat message arrives.
func resume(c *atelier.ClientWithResponses, lab, epoch string, since int64) chat {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	events, err := c.StreamEvents(ctx, lab, &atelier.StreamEventsParams{Epoch: &epoch, Since: to(int(since))})
	assert(err == nil && events.StatusCode == http.StatusOK, "the stream:", events, err)
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if m := (chat{}); found && json.Unmarshal(data, &m) == nil && m.Type == "chat" {
			return m
		}
	}
	assert(false, "the stream ended", lines.Err())
	return chat{}
}

// session returns a client that keeps its cookies and sends the CSRF token with them.
func session() *atelier.ClientWithResponses {
	jar, err := cookiejar.New(nil)
	assert(err == nil, err)
	return client(&http.Client{Jar: jar}, func(_ context.Context, r *http.Request) error {
		for _, c := range jar.Cookies(r.URL) {
			if c.Name == "svc_csrf" {
				r.Header.Set("X-CSRF-Token", c.Value)
			}
		}
		return nil
	})
}

func client(h *http.Client, edit atelier.RequestEditorFn) *atelier.ClientWithResponses {
	c, err := atelier.NewClientWithResponses(server+"/api", atelier.WithHTTPClient(h), atelier.WithRequestEditorFn(edit))
	assert(err == nil, err)
	return c
}

// expect exits the program if an operation failed.
func expect(answer interface {
	StatusCode() int
	Status() string
}, err error) {
	if err != nil || answer.StatusCode() != http.StatusOK {
		log.Output(2, fmt.Sprintf("%+v, %v", answer, err))
		os.Exit(1)
	}
}

func assert(ok bool, about ...any) {
	if !ok {
		log.Output(2, fmt.Sprintln(about...))
		os.Exit(1)
	}
}

// to returns a pointer to a value, for optional members.
func to[T any](v T) *T { return &v }
