//go:build linux

package uploads

import (
	"context"
	"time"

	"atelier/bench/api"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// uploadWithin is the timeout of an upload.
const uploadWithin = 60 * time.Second

// Run runs the workshop and the uploads. An error means that there are no results.
func Run(ctx context.Context, cfg *Config, target *server.Target) (*report.Result, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	client, err := api.New(target.URL, target.Via, uploadWithin)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	senders, err := enter(ctx, client, cfg, target)
	if err != nil {
		return nil, err
	}
	load := newLoad(cfg, client, senders)
	scale := &scale{cfg: cfg, usage: target.Usage}

	inner := cfg.Workshop
	inner.Parts, inner.PartOf = parts, cfg.partOf
	inner.Beside = func(ctx context.Context) {
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			scale.follow(ctx, began)
		}()
		load.run(ctx, began)
		<-done
	}
	result, err := workshop.Run(ctx, &inner, target)
	if err != nil {
		return nil, err
	}
	result.Scenario = "uploads"
	for i, name := range []string{"without uploads", "with uploads"} {
		result.Parts[i].Name = name
		scale.fill(&result.Parts[i], i)
	}
	result.Memory = scale.weights
	result.Operations = append(result.Operations, load.small.Operation(), load.large.Operation())
	result.Generator.Shed += load.shed
	return result, nil
}

// enter creates a codelab for the uploads, with attendees.
func enter(ctx context.Context, client *api.Client, cfg *Config, target *server.Target) ([]*sender, error) {
	admin, err := client.Login(target.AdminID, target.AdminPW, "Uploads")
	if err != nil {
		return nil, err
	}
	lab, err := client.Create(admin, "Uploads under load", [][2]string{{"Hand in", "Hand your file in."}})
	if err != nil {
		return nil, err
	}
	people, err := api.RegisterAll(ctx, client, lab.ID, cfg.sessions())
	if err != nil {
		return nil, err
	}
	senders := make([]*sender, len(people))
	for i, p := range people {
		senders[i] = &sender{session: p.Session, path: "/codelabs/" + lab.ID + "/attendees/" + p.ID + "/submissions"}
	}
	return senders, nil
}

// scale records the server's memory over time. Not safe for concurrent use.
type scale struct {
	cfg     *Config
	usage   usage
	weights []report.Weight
}

func (s *scale) follow(ctx context.Context, began time.Time) {
	if s.usage == nil {
		return
	}
	tick := time.NewTicker(s.cfg.Weigh)
	defer tick.Stop()
	for {
		if u, err := s.usage(); err == nil {
			since := time.Since(began)
			s.weights = append(s.weights, report.Weight{Second: since.Seconds(), RSS: u.RSS, Part: s.cfg.phase(since)})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// fill summarizes the memory of one part.
func (s *scale) fill(p *report.Part, part int) {
	var sum, n int64
	for _, w := range s.weights {
		if w.Part != part {
			continue
		}
		if n == 0 || w.RSS < p.Lowest {
			p.Lowest = w.RSS
		}
		p.Highest = max(p.Highest, w.RSS)
		sum += w.RSS
		n++
	}
	if n > 0 {
		p.Mean = sum / n
	}
}
