package handler

import (
	"errors"

	"atelier/actors/participant"
	"atelier/transport/handler/encrypted"
)

// getKey returns the public key to which credentials for a participant are encrypted. Anyone can
// read it.
func (c *call) getKey() error {
	var p *participant.Participant
	err := c.surely(func() error {
		view, err := c.participants()
		if err != nil {
			return err
		}
		p = view.ByIdentity(c.Param("identity"))
		if p == nil || p.Disabled || p.Environment != c.environment || len(p.EncryptionKey) == 0 {
			return errNoKey
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Response.Header.Set("Cache-Control", "public, max-age=60")
	return c.jwk(p.EncryptionKey)
}

// putKey publishes the caller's key and replaces an earlier one. The key's owner can read all data
// that is encrypted from now on, so the permissions for detokenizing are required.
func (c *call) putKey() error {
	if err := c.admit(participant.ScopeDetokenize); err != nil {
		return err
	}
	if len(c.Request.Header.ContentType()) > 0 && string(c.Request.Header.ContentType()) == "application/jwk+json" {
		c.Request.Header.SetContentType("application/json")
	}
	var any map[string]any
	sent, err := c.decode(&any, false)
	if err != nil {
		return err
	}
	key, err := encrypted.PublicKey(sent)
	if errors.Is(err, encrypted.ErrKey) {
		return invalid(err.Error())
	}
	if err != nil {
		return err
	}
	if err := c.setKey(key); err != nil {
		return err
	}
	return c.jwk(key)
}

func (c *call) jwk(key []byte) error {
	c.Response.SetBodyRaw(key)
	c.SetContentType("application/jwk+json")
	return nil
}

// deleteKey withdraws the caller's key.
func (c *call) deleteKey() error {
	if err := c.admit(participant.ScopeDetokenize); err != nil {
		return err
	}
	if err := c.setKey(nil); err != nil {
		return err
	}
	return c.NoContent()
}

func (c *call) setKey(key []byte) error {
	if err := c.receives(); err != nil {
		return err
	}
	h, err := c.Participants.Get(participant.ID)
	if err != nil {
		return err
	}
	caller := c.caller()
	_, _, err = h.Ask(participant.Command{
		Caller: participant.Caller{Type: "participant", ID: c.who.Id, IP: caller.IP, UserAgent: caller.UserAgent},
		Body:   participant.SetEncryptionKey{ID: c.who.Id, Key: key},
	})
	return err
}
