package rest

import (
	"cmp"
	"errors"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// listedRecord is a codelab in the facilitators' list.
type listedRecord struct {
	codelabRecord
	activityRecord
}

type activityRecord struct {
	Online    int    `json:"online" doc:"Attendees with a live connection. In GET /codelabs, only for facilitators of the codelab."`
	Attendees int    `json:"attendees" doc:"In GET /codelabs, only for facilitators of the codelab."`
	UpdatedAt string `json:"updated_at" is:"Timestamp" doc:"The last change of settings, steps, quizzes or materials. In GET /codelabs, only for facilitators of the codelab."`
}

// figuresOf returns the figures of codelabs, without recently deleted ones. It loads only the
// codelabs that have no recorded figures, because they last changed before the server recorded any.
func (r *Request) figuresOf(all []*pb.Codelab) (map[string]*pb.Figures, error) {
	figures, err := r.api.List.Figures(all)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if figures[m.Id] != nil {
			continue
		}
		f, err := r.figures(m.Id)
		switch {
		case durable.IsMissing(err):
		case err != nil:
			return nil, err
		default:
			figures[m.Id] = f
		}
	}
	return figures, nil
}

// listForAdmins responds with the given codelabs and the activity in them.
func (r *Request) listForAdmins(all []*pb.Codelab) error {
	figures, err := r.figuresOf(all)
	if err != nil {
		return err
	}
	online := r.api.Codelabs.Online()
	return httpapi.JSONList(r.Exchange, func(yield func(listedRecord) bool) {
		for _, m := range all {
			f := figures[m.Id]
			if f == nil {
				continue
			}
			if !yield(r.toListed(m, f, online)) {
				return
			}
		}
	})
}

func (r *Request) toListed(m *pb.Codelab, f *pb.Figures, online map[string]int) listedRecord {
	return listedRecord{r.toCodelab(m, true), activityRecord{online[m.Id], int(f.Attendees), wire.Stamp(cmp.Or(f.UpdatedAt, m.CreatedAt))}}
}

// listVisible responds with the given codelabs that are public, or in which the caller is
// registered or assists.
func (r *Request) listVisible(all []*pb.Codelab) error {
	assists := r.who.Rank() == auth.Assistant && r.Query("as") != "attendee"
	leads := func(id string) bool { return assists && r.who.Leads(id) }
	var visible, led []*pb.Codelab
	for _, m := range all {
		shown := m.IsPublic || leads(m.Id)
		if !shown {
			var err error
			if shown, err = r.registered(m.Id); err != nil {
				return err
			}
		}
		if shown {
			visible = append(visible, m)
		}
	}
	for _, m := range visible {
		if leads(m.Id) {
			led = append(led, m)
		}
	}
	figures, online := map[string]*pb.Figures(nil), map[string]int(nil)
	if len(led) > 0 {
		var err error
		if figures, err = r.figuresOf(led); err != nil {
			return err
		}
		online = r.api.Codelabs.Online()
	}
	return httpapi.JSONList(r.Exchange, func(yield func(any) bool) {
		for _, m := range visible {
			record := any(nil)
			switch f := figures[m.Id]; {
			case !leads(m.Id):
				record = r.toCodelab(m, false)
			case f != nil:
				record = r.toListed(m, f, online)
			default: // recently deleted
				continue
			}
			if !yield(record) {
				return
			}
		}
	})
}

// figures returns the figures of a codelab for which none were recorded.
func (r *Request) figures(id string) (*pb.Figures, error) {
	w, err := r.api.Codelabs.Get(id)
	if errors.Is(err, durable.ErrQuarantined) {
		return &pb.Figures{}, nil // the codelab cannot be loaded, but the list still contains it
	}
	if err != nil {
		return nil, err
	}
	v := w.View()
	return &pb.Figures{Attendees: int32(v.CountPeople()), UpdatedAt: v.UpdatedAt}, nil
}
