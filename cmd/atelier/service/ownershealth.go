package service

import (
	"context"
	"math"
	"strings"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/rest"
	"atelier/transport/server"
	"atelier/transport/wire"
)

// healthTimeout is the maximum time for which a request waits for all slow checks together.
const healthTimeout = time.Second

// ownersHealth returns the state of the server for the owner's page. It does not read the store.
// Slow checks run on other goroutines, and their results are unknown while they take longer than
// healthTimeout.
func (s *Service) ownersHealth() rest.Health {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	l := &s.probes
	// All checks are requested before the first is waited for.
	l.space.want()
	l.size.want()
	l.backup.want()
	if s.pair != nil {
		l.certificate.want()
	}
	if s.core.node != nil {
		l.nodes.want()
	}
	return rest.Health{
		People: s.peopleHealth(), Queue: s.queueHealth(), Commit: s.commitHealth(), Disk: s.diskHealth(ctx),
		Backup: s.backupHealth(ctx), Certificate: s.certificateHealth(ctx), Nodes: s.nodesHealth(ctx),
	}
}

// machine returns the metrics of the machine and its environment.
func (s *Service) machine() (m server.Machine) {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	m.Memory, _ = doctor.MachineMemory() // zero if unknown
	l := &s.probes
	l.backup.want()
	if s.pair != nil {
		l.certificate.want()
		m.CertificateEnds, _ = l.certificate.last(ctx)
	}
	if found, known := l.backup.last(ctx); known && found.made != nil {
		m.Backup = found.made.At
	}
	return m
}

func judged(f doctor.Finding) rest.Verdict {
	return rest.Verdict{OK: &f.OK, Text: f.Text, Remedy: f.Remedy}
}

// unknown returns the verdict for a state that is not known yet.
func unknown(text string) rest.Verdict { return rest.Verdict{Text: text} }

func (s *Service) peopleHealth() rest.PeopleHealth {
	h := rest.PeopleHealth{Here: s.connected(), Sockets: s.hub.Stats().Sessions}
	h.All = &h.Here
	if n := s.core.node; n != nil {
		h.All = nil
		if all, whole := n.People(); whole {
			h.All = &all
		}
	}
	h.Verdict = judged(doctor.Descriptors(uint64(server.Descriptors()), "the server", max(doctor.People, h.Here)))
	return h
}

func (s *Service) queueHealth() rest.QueueHealth {
	recent := s.metrics.RecentWaits()
	return rest.QueueHealth{
		Verdict: judged(judgeWaits(recent)), Times: toTimes(recent),
		P99BoundMillis: millis(doctor.SlowTail), WaitingBytes: s.core.store.Stats().QueueBytes,
	}
}

func (s *Service) commitHealth() rest.CommitHealth {
	recent := s.metrics.RecentCommits()
	return rest.CommitHealth{
		Verdict: judged(judgeCommits(recent, s.cfg.Storage.Backend, s.core.store.Stats().Failed)),
		Times:   toTimes(recent), P50BoundMillis: millis(doctor.SlowSync), P99BoundMillis: millis(doctor.SlowTail),
	}
}

func judgeWaits(recent server.Recent) doctor.Finding {
	if recent.N == 0 {
		return doctor.Finding{OK: true, Text: "no command was measured in the last minutes"}
	}
	return doctor.Waits(recent.P99)
}

// judgeCommits uses data that the doctor lacks: the kind of the store, and whether the store has
// failed.
func judgeCommits(recent server.Recent, backend string, failed error) doctor.Finding {
	switch {
	case failed != nil:
		return doctor.Finding{Text: "the store has failed, and writes no more data", Remedy: "make a backup, look at the log and the disk, and restart the server"}
	case recent.N == 0:
		return doctor.Finding{OK: true, Text: "nothing was written in the last minutes"}
	}
	found := doctor.Commits(recent.P50, recent.P99)
	if !found.OK && backend == config.Postgres {
		found.Remedy = "check PostgreSQL: its disk, its other load, and the network between it and this server"
	}
	return found
}

func (s *Service) diskHealth(ctx context.Context) (h rest.DiskHealth) {
	switch found, known := s.probes.space.get(ctx); {
	case !known:
		h.Verdict = unknown("the disk does not respond, so its free space is not known")
	case found.err != nil:
		h.Verdict = unknown("the free space is not known: " + found.err.Error())
	default:
		h.Free, h.Total = &found.free, &found.total
		h.Verdict = judged(doctor.Space(found.free, uint64(s.cfg.Storage.MinFreeMiB)<<20, max(doctor.People, s.connected())))
	}
	if found, known := s.probes.size.last(ctx); known && found.err == nil {
		h.Data = &found.bytes
	}
	return h
}

func (s *Service) backupHealth(ctx context.Context) (h rest.BackupHealth) {
	found, known := s.probes.backup.get(ctx)
	switch {
	case !known:
		h.Verdict = unknown("the disk does not respond, so the time of the last backup is not known")
		return h
	case found.made == nil && s.core.node != nil:
		h.Verdict = unknown("no backup was made on this node; perhaps another node makes the backups")
		return h
	}
	h.Verdict = judged(found.found)
	if found.made != nil {
		at, age := wire.Stamp(found.made.At.UnixMilli()), int64(time.Since(found.made.At).Seconds())
		h.At, h.AgeSeconds = &at, &age
	}
	return h
}

func (s *Service) certificateHealth(ctx context.Context) *rest.CertificateHealth {
	if s.pair == nil {
		return nil
	}
	found, known := s.probes.certificate.get(ctx)
	if !known {
		return &rest.CertificateHealth{Verdict: unknown("the disk does not respond, so it is not known whether the certificate was renewed")}
	}
	now := time.Now()
	ends, left := wire.Stamp(found.UnixMilli()), int(math.Floor(found.Sub(now).Hours()/24))
	return &rest.CertificateHealth{Verdict: judged(doctor.Certificate(s.cfg.Server.TLSCert, found, now)), NotAfter: &ends, DaysLeft: &left}
}

func (s *Service) nodesHealth(ctx context.Context) *rest.NodesHealth {
	if s.core.node == nil {
		return nil
	}
	found, known := s.probes.nodes.get(ctx)
	if !known {
		return &rest.NodesHealth{Verdict: unknown("the database does not respond, so the state of the nodes is not known"), Node: s.cfg.Cluster.Node}
	}
	return toNodesHealth(found)
}

// toNodesHealth converts the output of `atelier cluster status` for the owner's page.
func toNodesHealth(st *nodes.Status) *rest.NodesHealth {
	h := &rest.NodesHealth{Node: st.Node, Verdict: judged(doctor.Finding{OK: true, Text: "all nodes are well"})}
	if len(st.Problems) > 0 {
		h.Verdict = judged(doctor.Finding{Text: strings.Join(st.Problems, "; "), Remedy: "run atelier cluster status on any node for details; deploy/CLUSTER.md describes what to do"})
	}
	if st.Unlisted {
		return h
	}
	h.List = []rest.NodeHealth{}
	for _, n := range st.Nodes {
		var load *float64
		var writable *bool
		var offset *int64
		if n.Figures != nil {
			can := n.Trouble == nil || n.Trouble.Reason == nodes.Clock
			load, writable, offset = &n.Load, &can, n.ClockMillis
		}
		h.List = append(h.List, rest.NodeHealth{
			Node: n.Node, State: n.State, Alive: n.Alive, Stopped: n.Stopped, LeaseLeftSeconds: n.LeaseLeftSeconds, Since: wire.Stamp(n.Since.UnixMilli()),
			Program: n.Program, Protocol: n.Protocol, Owns: n.Owns, Load: load, Reached: n.Reached, Writable: writable, ClockOffsetMillis: offset,
		})
	}
	return h
}

func toTimes(r server.Recent) rest.Times {
	t := rest.Times{WindowSeconds: int(server.RecentSpan.Seconds())}
	if r.N > 0 {
		p50, p99 := millis(r.P50), millis(r.P99)
		t.P50Millis, t.P99Millis = &p50, &p99
	}
	return t
}

// millis returns a duration in milliseconds, with two decimal places.
func millis(d time.Duration) float64 {
	return math.Round(float64(d)/float64(10*time.Microsecond)) / 100
}
