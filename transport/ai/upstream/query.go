package upstream

import (
	"atelier/transport/wire"
)

// Query is one question.
type Query struct {
	// Model is one of the configured models.
	Model string
	// Contents lists the turns of the conversation, oldest first.
	Contents []Content
	// System is the system instruction, or "".
	System string
	// Config contains the generation parameters, under the names that the client sent.
	Config map[string]any
	// Tools are forwarded to Gemini; OpenAI's protocol refuses them. Nil means no tools.
	Tools []any
}

// Content is one turn.
type Content struct {
	Role  string           `json:"role,omitempty"`
	Parts []map[string]any `json:"parts"`
}

// Safety is the finish reason of a blocked question or answer. Blocked lists Gemini's further
// reasons.
const Safety = "SAFETY"

// Blocked reports whether a finish reason means that the answer was blocked.
func Blocked(finish string) bool {
	switch finish {
	case Safety, "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "IMAGE_SAFETY":
		return true
	}
	return false
}

// Chunk is a part of an answer.
type Chunk struct {
	Parts []Part
	// Finish is the reason why the model stopped; "" while it continues.
	Finish string
	// Usage is the token count so far, or nil if the chunk has no count.
	Usage *Usage
	// Grounding contains the answer's sources, as the upstream wrote them, or nil if there are
	// none.
	Grounding any
}

// Part is a piece of text, or a tool call.
type Part struct {
	Text             *string `json:"text,omitempty"`
	Thought          bool    `json:"thought,omitempty"`
	ThoughtSignature string  `json:"thoughtSignature,omitempty"`
	FunctionCall     any     `json:"functionCall,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	Prompt int64 `json:"promptTokenCount"`
	Output int64 `json:"candidatesTokenCount"`
	Total  int64 `json:"totalTokenCount"`
}

// sane limits each count of the upstream to 0 to 2^40. For nil it returns nil.
func (u *Usage) sane() *Usage {
	if u == nil {
		return nil
	}
	clip := func(n int64) int64 { return min(max(n, 0), 1<<40) }
	return &Usage{clip(u.Prompt), clip(u.Output), clip(u.Total)}
}

// parameters lists the parameters that exist in both protocols, with their OpenAI name and a check
// of the value. The keys are Gemini's name in both spellings and OpenAI's name.
var parameters = map[string]struct {
	name string
	read func(any) bool
}{
	"temperature": {"temperature", isNumber}, "topP": {"top_p", isNumber}, "top_p": {"top_p", isNumber},
	"maxOutputTokens": {"max_tokens", isCount}, "max_output_tokens": {"max_tokens", isCount}, "max_tokens": {"max_tokens", isCount},
	"stopSequences": {"stop", isTexts}, "stop_sequences": {"stop", isTexts}, "stop": {"stop", isTexts},
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

func isCount(v any) bool {
	n, ok := v.(float64)
	return ok && n >= 1 && n <= 1_000_000 && n == float64(int64(n))
}

func isTexts(v any) bool {
	list, ok := v.([]any)
	for _, s := range list {
		if _, text := s.(string); !text {
			return false
		}
	}
	return ok && len(list) <= 16
}

// Check validates the values of the parameters that exist in both protocols. Gemini checks all
// other parameters itself; they are not sent with OpenAI's protocol.
func (q *Query) Check() error {
	for name, v := range q.Config {
		if p, known := parameters[name]; known && v != nil && !p.read(v) {
			return wire.Invalid("generation_config.%s has the wrong type or is out of range", name)
		}
	}
	return nil
}

func encode(v any) ([]byte, error) { return wire.Codec.Marshal(v) }
