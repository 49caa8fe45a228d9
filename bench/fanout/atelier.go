//go:build linux

package fanout

import (
	"context"
	"net/url"

	"atelier/bench/api"
	"atelier/bench/broadcast"
	"atelier/bench/server"
)

// Relaxed contains settings for a spawned server. Without them, a load test would measure the
// server's limits per person. In a fan-out, few publishers send many messages, and all
// registrations arrive from one address simultaneously.
var Relaxed = []string{
	"ATELIER_LIMITS_MESSAGES_PER_SECOND=1000000", "ATELIER_LIMITS_MESSAGE_BURST=1000000",
	"ATELIER_LIMITS_REGISTRATIONS_PER_SECOND=100000", "ATELIER_LIMITS_REGISTRATION_BURST=100000",
	"ATELIER_LIMITS_WRITES_PER_MINUTE=100000000", "ATELIER_LIMITS_READS_PER_MINUTE=100000000",
	"ATELIER_LIMITS_SOCKETS_PER_PERSON=0",
}

// atelier returns the dialect of an Atelier server. Publishers send chat messages.
func atelier(size int) broadcast.Dialect {
	return broadcast.Dialect{
		Send: `{"type":"chat","ref":"{{seq}}","message":"{{stamp}} {{seq}} {{pad}}"}`, Size: size,
		Match:    `"message":"(?P<stamp>[0-9]+) (?P<seq>[0-9]+) `,
		Ready:    `"type":"welcome","epoch":"(?P<epoch>[0-9a-f]+)"`,
		Ack:      `"type":"ack","ref":"(?P<seq>[0-9]+)"`,
		Refusal:  `"type":"error".*"ref":"(?P<seq>[0-9]+)"`,
		Gap:      `"type":"resync","epoch":"(?P<epoch>[0-9a-f]+)"`,
		Position: `"seq":(?P<position>[0-9]+)`,
		Resume:   "&since={{position}}&epoch={{epoch}}",
		Beside:   []string{`{"type":"step_progress","step_number":2}`, `{"type":"step_progress","step_number":1}`},
	}
}

// Atelier returns a function for Config.Prepare. The function creates a codelab on the server, and
// registers an attendee for each client.
func Atelier(target *server.Target, trust server.Trust, size int) func(context.Context, int, int) (*Endpoint, error) {
	return func(ctx context.Context, subscribers, publishers int) (*Endpoint, error) {
		client, err := target.Client(api.Within)
		if err != nil {
			return nil, err
		}
		admin, err := client.Login(target.AdminID, target.AdminPW, "Load test")
		if err != nil {
			return nil, err
		}
		lab, err := client.Create(admin, "Fan-out under load", [][2]string{{"Listen", "Listen to what is said."}, {"Go on", "Go on listening."}})
		if err != nil {
			return nil, err
		}
		people, err := api.RegisterAll(ctx, client, lab.ID, subscribers+publishers)
		if err != nil {
			return nil, err
		}
		seats := make([]broadcast.Seat, len(people))
		for i, p := range people {
			seats[i] = broadcast.Seat{Path: client.Path() + "/api/ws/" + lab.ID + "?as=attendee", Cookie: p.Session.Cookie()}
		}
		// The connections of the registrations do not count towards the measured memory.
		client.Close()
		d := &Endpoint{
			Address: client.Address(), Host: client.Host(), Dialect: atelier(size),
			Subscribers: seats[:subscribers], Publishers: seats[subscribers:],
		}
		for i, n := range target.Nodes() {
			u, err := url.Parse(n.URL)
			if err != nil {
				return nil, err
			}
			address, err := api.Address(u)
			if err != nil {
				return nil, err
			}
			if u.Scheme == "https" {
				d.TLS = &trust
			}
			if i == 0 {
				d.Address = address
				continue
			}
			d.More = append(d.More, broadcast.Node{Address: address, Host: u.Host})
		}
		if d.TLS == nil {
			return d, nil
		}
		return d, trust.Load()
	}
}
