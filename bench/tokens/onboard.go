//go:build linux

package tokens

import (
	"encoding/json"
	"fmt"

	"atelier/bench/api"
)

// party is a platform and the business for which it tokenizes.
type party struct {
	platformKey, businessKey string
	businessID, identity     string
}

// onboard creates the platforms and businesses. Their keys are only in the memory of the run.
func (r *run) onboard() error {
	for i := range r.cfg.Participants {
		platform, err := r.add(fmt.Sprintf("Bench platform %d", i+1), "platform", "tokenize")
		if err != nil {
			return err
		}
		business, err := r.add(fmt.Sprintf("Bench business %d", i+1), "business", "detokenize")
		if err != nil {
			return err
		}
		if err := r.admin("/admin/participants/"+business.ID+"/acknowledge", map[string]string{"version": "bench"}, nil); err != nil {
			return err
		}
		r.parties = append(r.parties, party{platform.Key.Secret, business.Key.Secret, business.ID, business.Identity})
	}
	return nil
}

type participant struct {
	ID       string `json:"id"`
	Identity string `json:"identity"`
	Key      struct {
		Secret string `json:"secret"`
	} `json:"key"`
}

func (r *run) add(name, kind, scope string) (p participant, err error) {
	err = r.admin("/admin/participants", map[string]any{"name": name, "kind": kind, "scopes": []string{scope}}, &p)
	return p, err
}

// policy sets the policy of all businesses.
func (r *run) policy(name string, seconds int) error {
	for _, p := range r.parties {
		if err := r.admin("/admin/participants/"+p.businessID+"/policy", map[string]any{"policy": name, "ttl_seconds": seconds}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) admin(path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := r.clients.Node(0).Do(&api.Request{Method: "POST", Path: path, Session: r.session, Body: b})
	if err != nil {
		return fmt.Errorf("onboard: %w", err)
	}
	if a.Err() != nil { // without the body, which can contain a secret
		return fmt.Errorf("onboard: POST %s returned status %d", path, a.Status)
	}
	if into == nil {
		return nil
	}
	return a.Decode(into)
}
