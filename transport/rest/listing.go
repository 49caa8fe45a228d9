package rest

import (
	"cmp"
	"errors"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
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
	online := r.api.Workshops.Online()
	return httpapi.JSONList(r.Exchange, len(all), func(yield func(listedRecord, error) bool) {
		for _, m := range all {
			f, err := figures[m.Id], error(nil)
			if f == nil {
				f, err = r.figures(m.Id)
			}
			if durable.IsMissing(err) {
				continue // deleted a moment ago
			}
			var record listedRecord
			if err == nil {
				record = listedRecord{
					r.toCodelab(m, true), online[m.Id], int(f.Attendees), wire.Stamp(cmp.Or(f.UpdatedAt, m.CreatedAt)),
				}
			}
			if !yield(record, err) {
				return
			}
		}
	})
}

// figures are those of a codelab for which they were never recorded.
func (r *Request) figures(id string) (*pb.Figures, error) {
	w, err := r.api.Workshops.Get(id)
	if errors.Is(err, durable.ErrQuarantined) {
		return &pb.Figures{}, nil // it does not open; its record is known
	}
	if err != nil {
		return nil, err
	}
	v := w.View()
	return &pb.Figures{Attendees: int32(v.Attendees.Len()), UpdatedAt: v.UpdatedAt}, nil
}
