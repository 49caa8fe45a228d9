package ai

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/settings"
	"atelier/actors/usage"
	"atelier/transport/ai/keys"
	"atelier/transport/ai/upstream"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// Config configures a Service. All fields except Rate are required.
type Config struct {
	Upstream *upstream.Client
	Models   rest.AIModels
	Codelabs codelab.Directory
	Settings *settings.Host
	// Grants ends an answer when the caller's grant ends.
	Grants Grants
	// Rate limits the questions of each person. Nil means no limit.
	Rate    *httpapi.Limiter
	Answers *Answers
	// Heartbeat is the idle time after which the server sends a comment on a stream that has begun.
	// The comment keeps proxies from closing the connection.
	Heartbeat time.Duration
	Logger    *slog.Logger
}

// Grants has the methods of auth.Authenticator that this package needs.
type Grants interface {
	Hold(h auth.Holder) (ended string)
	Release(h auth.Holder)
	Check(h auth.Holder)
}

// Service answers questions. It is safe for concurrent use.
type Service struct {
	Config
	stats counters
}

// Operations returns the operations of the service.
func (s *Service) Operations() []rest.Operation {
	return []rest.Operation{{Method: http.MethodPost, Path: "/ai/stream", Access: rest.Session, Handle: s.stream}}
}

// New returns a service.
func New(cfg Config) *Service { return &Service{Config: cfg} }

var (
	errStopping = httpapi.Refusal(http.StatusServiceUnavailable, "the server is stopping; try again", 2*time.Second)
	errCrowded  = httpapi.Refusal(http.StatusServiceUnavailable, "too many people are asking at this moment; try again", 5*time.Second)
	errYours    = httpapi.Refusal(http.StatusTooManyRequests, "too many of your questions are being answered; wait for one to end", 2*time.Second)
	errNoKey    = wire.Invalid("no AI key is set, or ADMIN_PW has changed and it must be set again: an administrator must set ai_api_key, or the request must carry api_key")
	errEnded    = httpapi.Refusal(http.StatusForbidden, "your access has ended: you are logged out, or no longer registered", 0)
	errLeft     = errors.New("the client left")
)

// Close refuses new questions, lets answers in progress finish until ctx ends, then cancels them
// and waits for their end.
func (s *Service) Close(ctx context.Context) {
	s.Answers.close(ctx)
	s.Upstream.Close()
}

// stream answers one question.
func (s *Service) stream(r *rest.Request) error {
	q, in, err := s.read(r)
	if err != nil {
		return err
	}
	key, err := s.key(r, text(in.APIKey))
	if err != nil {
		return err
	}
	person := r.Caller.Person
	if err := s.Answers.room(person); err != nil {
		return err
	}
	if wait := s.Rate.Allow(person); wait > 0 {
		return httpapi.Refusal(http.StatusTooManyRequests, "too many questions; try again later", wait)
	}
	a := &answer{s: s, key: key, query: q, person: person, codelab: text(in.CodelabID), admin: r.Caller.AdminID, standing: r.Standing()}
	step := int32(0)
	if in.StepNumber != nil && a.codelab != "" {
		step = *in.StepNumber
		about(q, r.Codelab.View(), int(step), r.IsAdmin())
	}
	if err := s.announce(r, a, step); err != nil {
		return err
	}
	r.Detach(a.serve)
	return nil
}

// key returns the stored key, or the key in the request if there is no stored key that can be
// decrypted. A key in the request must be valid in either case.
func (s *Service) key(r *rest.Request, sent string) (keys.Key, error) {
	var own keys.Key
	if sent != "" {
		var err error
		if own, err = r.OpenKey(sent); err != nil {
			return own, err
		}
	}
	stored, err := r.StoredKey()
	switch {
	case err != nil:
		return stored, err
	case !stored.Zero():
		return stored, nil
	case own.Zero():
		return own, errNoKey
	}
	return own, nil
}

// announce records the question in the audit trail before anything is sent upstream. For a question
// about a codelab, the codelab also checks that the question is permitted.
func (s *Service) announce(r *rest.Request, a *answer, step int32) error {
	if a.codelab == "" {
		return r.AuditAdmin("ai_query", map[string]string{"model": a.query.Model})
	}
	_, _, err := r.Codelab.Ask(codelab.Command{Caller: r.Caller, Body: codelab.AskAI{Model: a.query.Model, StepNumber: step}})
	return err
}

// note adds an answer's usage to the statistics of its codelab. Without a codelab, it adds the
// usage to the server's settings.
func (s *Service) note(a *answer) {
	var err error
	u := &usage.AIUsage{
		Model: a.query.Model, Queries: 1, Failed: a.failed,
		PromptTokens: a.usage.Prompt, OutputTokens: a.usage.Output, TotalTokens: a.usage.Total,
	}
	if a.codelab == "" {
		var h interface {
			Ask(settings.Command) (any, uint64, error)
		}
		if h, err = s.Settings.Get(settings.ID); err == nil {
			_, _, err = h.Ask(settings.Command{Caller: settings.Caller{Type: "admin", ID: a.admin}, Body: settings.NoteAIUse{Usage: u}})
		}
	} else {
		var lab codelab.Codelab
		if lab, err = s.Codelabs.Get(a.codelab); err == nil {
			_, _, err = lab.Ask(codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.NoteAIUse{Usage: u}})
		}
	}
	if err != nil && !durable.IsMissing(err) { // the codelab can have been deleted meanwhile
		s.Logger.Warn("recording the AI usage failed", "codelab", a.codelab, "error", err)
	}
}
