package rest

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"atelier/actors/settings"
	"atelier/transport/ai/keys"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// OpenKey decrypts an AI key sent by the caller. Its error is an Invalid rejection, or a response 429
// if the caller must wait.
func (r *Request) OpenKey(text string) (keys.Key, error) {
	k, err := r.api.AIKeys.Open(r.Caller.Person, text)
	return k, slowed(err)
}

// StoredKey decrypts the key in the settings. The result is zero if the settings have no key or the
// key cannot be decrypted.
func (r *Request) StoredKey() (keys.Key, error) {
	h, err := r.api.Settings.Get(settings.ID)
	if err != nil {
		return keys.Key{}, err
	}
	sealed := h.View().AIKey
	if len(sealed) == 0 {
		return keys.Key{}, nil
	}
	k, _, err := r.api.AIKeys.OpenStored(sealed)
	return k, slowed(err)
}

// slowed returns the response 429 for a keys.Slow, and any other error unchanged.
func slowed(err error) error {
	var slow *keys.Slow
	if errors.As(err, &slow) {
		return httpapi.Refusal(fasthttp.StatusTooManyRequests, slow.Error(), slow.After)
	}
	return err
}

// maxAIKey bounds the length of a key's text, in code points, before the text is parsed.
const maxAIKey = 8192

type settingsBody struct {
	Key *string `json:"ai_api_key" length:"..8192" doc:"The encrypted AI key. \"\" removes it."`
}

func saveSettings(r *Request) error {
	var in settingsBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if utf8.RuneCountInString(*in.Key) > maxAIKey {
		return wire.Invalid("ai_api_key is longer than %d characters", maxAIKey)
	}
	set := settings.SetAIKey{}
	if *in.Key != "" {
		if _, err := r.OpenKey(*in.Key); err != nil {
			return err
		}
		set.Sealed = r.api.AIKeys.Seal(*in.Key)
	}
	if _, err := r.setting(set); err != nil {
		return err
	}
	return r.ok()
}

type settingsRecord struct {
	Set      bool     `json:"ai_api_key_set" doc:"Whether a key is stored."`
	Usable   bool     `json:"ai_api_key_usable" doc:"Whether the stored key can be decrypted with the current ADMIN_PW."`
	Provider string   `json:"ai_provider" enum:"gemini|openai"`
	Model    string   `json:"ai_model" doc:"The model for questions that do not select one."`
	Models   []string `json:"ai_models" doc:"All models that a question can select."`
}

// getSettings reports whether a key is set and usable, and which models are permitted, but never
// the key itself.
func getSettings(r *Request) error {
	h, err := r.api.Settings.Get(settings.ID)
	if err != nil {
		return err
	}
	k, err := r.StoredKey()
	if err != nil {
		return err
	}
	return r.JSON(settingsRecord{len(h.View().AIKey) > 0, !k.Zero(), r.api.AIModels.Provider, r.api.AIModels.Default, r.api.AIModels.All})
}

// AIModels lists the permitted models of a provider. Default is one of All.
type AIModels struct {
	Provider, Default string
	All               []string
}

// Used returns asked if it is one of the models, and the default model otherwise.
func (m AIModels) Used(asked string) string {
	if asked = strings.TrimSpace(asked); slices.Contains(m.All, asked) {
		return asked
	}
	return m.Default
}

// AuditAdmin records an admin's action outside codelabs.
func (r *Request) AuditAdmin(action string, about map[string]string) error {
	return r.audit(action, "admin", r.Caller.AdminID, about)
}
