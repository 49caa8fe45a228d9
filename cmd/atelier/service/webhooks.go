package service

import (
	"time"

	"atelier/transport/ai/keys"
	"atelier/transport/rest"
	"atelier/transport/webhook"
)

// settingsKey returns the server's own key, which seals the AI key and the secrets of webhooks.
func (s *Service) settingsKey() (string, error) {
	key, made, err := secretKey(s.cfg, settingsKeyFile)
	if err == nil {
		s.core.warnOfNewKey(settingsKeyFile, made, "enter the AI key and the secrets of the webhooks again, because the saved ones cannot be read")
		err = s.core.node.Agree("secrets/"+settingsKeyFile, key)
	}
	return key, err
}

// openWebhooks creates the sender of webhooks.
func (s *Service) openWebhooks() error {
	key, err := s.settingsKey()
	if err != nil {
		return err
	}
	seal, err := keys.NewSeal(key, keys.ForWebhook)
	if err != nil {
		return err
	}
	s.webhooks = webhook.NewSender(webhook.Config{
		Seal: seal, Inside: s.cfg.Webhooks.AllowPrivate, Name: rest.AttendeeName(s.core.codelabs), Logger: s.log, Now: time.Now,
	})
	return nil
}
