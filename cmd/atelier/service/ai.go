package service

import (
	"time"

	"atelier/transport/ai"
	"atelier/transport/ai/keys"
	"atelier/transport/ai/upstream"
	"atelier/transport/httpapi"
	"atelier/transport/rest"
)

// openAI creates the part that answers questions with AI.
func (s *Service) openAI() (err error) {
	if s.aiKeys, err = s.openAIKeys(s.grants.AdminPassword); err != nil {
		return err
	}
	s.ai, err = s.newAI()
	return err
}

// openAIKeys returns the ring that decrypts AI keys with the admin's password. The stored AI key is
// also encrypted with the settings key, which is outside the store. An attacker therefore needs the
// password and the settings key.
func (s *Service) openAIKeys(password string) (*keys.Ring, error) {
	key, err := s.settingsKey()
	if err != nil {
		return nil, err
	}
	return keys.NewRing(password, key, time.Now)
}

func (s *Service) aiModels() rest.AIModels {
	c := s.cfg.AI
	return rest.AIModels{Provider: c.Provider, Default: c.Model, All: c.Allowed()}
}

func (s *Service) newAI() (*ai.Service, error) {
	c := s.cfg.AI
	client, err := upstream.New(upstream.Options{
		Provider: c.Provider, BaseURL: c.BaseURL, Connect: c.ConnectTimeout.Std(), FirstByte: c.FirstByteTimeout.Std(),
		Idle: c.IdleTimeout.Std(), Total: c.TotalTimeout.Std(), MaxConnections: c.MaxStreams,
	})
	if err != nil {
		return nil, err
	}
	return ai.New(ai.Config{
		Upstream: client, Models: s.aiModels(), Codelabs: s.core.codelabs, Settings: s.core.settings, Grants: s.grants,
		Rate:    httpapi.NewLimiter(httpapi.Rate{Burst: s.cfg.Limits.AIPerMinute, Per: time.Minute}, time.Now),
		Answers: s.answers, Heartbeat: c.Heartbeat.Std(), Logger: s.log,
	}), nil
}
