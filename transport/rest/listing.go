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
	// Online and Attendees count people; UpdatedAt is when settings, steps,
	// quizzes or materials were last changed.
	Online    int    `json:"online"`
	Attendees int    `json:"attendees"`
	UpdatedAt string `json:"updated_at"`
}

// listForAdmins answers all codelabs with what is going on in them. It wakes
// only those whose figures were never recorded: they have not changed since a
// time when they were not kept.
func (r *Request) listForAdmins(all []*pb.Codelab) error {
	figures, err := r.api.List.Figures(all)
	if err != nil {
		return err
	}
	for _, m := range all {
		if figures[m.Id] != nil {
			continue
		}
		f, err := r.figures(m.Id)
		switch {
		case durable.IsMissing(err): // deleted a moment ago
		case err != nil:
			return err
		default:
			figures[m.Id] = f
		}
	}
	online := r.api.Codelabs.Online()
	return httpapi.JSONList(r.Exchange, func(yield func(listedRecord) bool) {
		for _, m := range all {
			f := figures[m.Id]
			if f == nil {
				continue
			}
			record := listedRecord{r.toCodelab(m, true), online[m.Id], int(f.Attendees), wire.Stamp(cmp.Or(f.UpdatedAt, m.CreatedAt))}
			if !yield(record) {
				return
			}
		}
	})
}

// listVisible answers the public codelabs and those that the caller is registered in, or
// assists in.
func (r *Request) listVisible(all []*pb.Codelab) error {
	assists := r.who.Rank() == auth.Assistant && r.Query("as") != "attendee"
	leads := func(id string) bool { return assists && r.who.Leads(id) }
	var visible []*pb.Codelab
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
	return httpapi.JSONList(r.Exchange, func(yield func(codelabRecord) bool) {
		for _, m := range visible {
			if !yield(r.toCodelab(m, leads(m.Id))) {
				return
			}
		}
	})
}

// figures are those of a codelab for which they were never recorded.
func (r *Request) figures(id string) (*pb.Figures, error) {
	w, err := r.api.Codelabs.Get(id)
	if errors.Is(err, durable.ErrQuarantined) {
		return &pb.Figures{}, nil // it does not open; its record is known
	}
	if err != nil {
		return nil, err
	}
	v := w.View()
	return &pb.Figures{Attendees: int32(v.CountPeople()), UpdatedAt: v.UpdatedAt}, nil
}
