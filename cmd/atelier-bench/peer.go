//go:build linux

package main

import (
	"context"
	"errors"
	"strings"

	"atelier/bench/broadcast"
	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/server"
)

// usualSize is the default size of a message, in bytes.
const usualSize = 200

// checkPeer validates the flags for a server other than Atelier, and reads the file of --clients.
func (b *broadcastFlags) checkPeer() (err error) {
	if b.Clients != "" {
		if b.people, err = fanout.ReadClients(b.Clients, b.Subscribers+b.Publishers); err != nil {
			return err
		}
	}
	peer, err := b.peer()
	if err != nil {
		return err
	}
	return peer.Check()
}

// peer returns the server that the flags describe.
func (b *broadcastFlags) peer() (*fanout.Peer, error) {
	size := usualSize
	if b.Publishers > 0 {
		size = b.Size
	}
	d := broadcast.Dialect{
		Headers: b.Header, Binary: b.Binary, Match: b.Match, Ready: b.Ready, Ack: b.Ack, Refusal: b.Refusal,
		Position: b.Position, Resume: b.Resume,
	}
	at := b.server()
	var how *preset
	if b.Preset != "" {
		var err error
		if how, err = presetNamed(b.Preset); err != nil {
			return nil, err
		}
		if at, err = how.address(at); err != nil {
			return nil, err
		}
		d.Binary = d.Binary || how.dialect("", size).Binary
	} else if b.Channel != "" {
		return nil, errors.New("--channel is for --preset")
	}
	d.Hello, d.Send = broadcast.Raw(unescaped(b.Hello, d.Binary)), broadcast.Raw(unescaped(b.Send, d.Binary))
	for _, pair := range b.Answer {
		in, out, ok := strings.Cut(pair, "=")
		if !ok || in == "" || out == "" {
			return nil, errors.New("--answer: want IN=OUT, both not empty")
		}
		d.Answers = append(d.Answers, broadcast.Answer{In: broadcast.Raw(unescaped(in, d.Binary)), Out: broadcast.Raw(unescaped(out, d.Binary))})
	}
	if strings.Contains(b.Send, "{{pad}}") {
		d.Size = size
	}
	people := b.people
	if how != nil {
		if err := how.complete(&d, b.Channel, size); err != nil {
			return nil, err
		}
	}
	if how != nil && b.Hello == "" {
		var err error
		if people, err = how.signed(people, &d); err != nil {
			return nil, err
		}
	}
	return &fanout.Peer{
		URL: at, Publish: b.Publish, Clients: people, Elsewhere: len(b.WorkerAt) > 0, Trust: server.Trust{CAFile: b.CA, Insecure: b.Insecure}, Dialect: d,
	}, nil
}

// foreign tests a server other than Atelier.
func (b *broadcastFlags) foreign(ctx context.Context) error {
	peer, err := b.peer()
	if err != nil {
		return err
	}
	b.Prepare, b.Target = fanout.Generic(peer), &server.Target{}
	if b.PID > 0 {
		b.Target.Usage = server.OfPID(b.PID)
		if _, err := b.Target.Usage(); err != nil {
			return err
		}
	}
	return runOther(ctx, &b.serverFlags, &b.outputFlags, func(s *screen) (*report.Result, error) {
		b.Progress = s.broadcast
		return b.carryOut(ctx)
	})
}
