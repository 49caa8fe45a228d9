package upstream

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"atelier/transport/ai/keys"
	"atelier/transport/wire"
)

// openAI implements protocol with chat/completions.
type openAI struct{}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (openAI) request(base string, key keys.Key, q *Query) (string, http.Header, any, error) {
	if len(q.Tools) > 0 {
		return "", nil, nil, wire.Invalid("tools are not supported by this server's AI provider")
	}
	body := map[string]any{"model": q.Model, "stream": true, "stream_options": map[string]any{"include_usage": true}}
	messages := make([]chatMessage, 0, len(q.Contents)+1)
	if q.System != "" {
		messages = append(messages, chatMessage{"system", q.System})
	}
	for _, turn := range q.Contents {
		m := chatMessage{Role: "user"}
		if turn.Role == "model" {
			m.Role = "assistant"
		}
		for _, p := range turn.Parts {
			text, ok := p["text"].(string)
			if !ok {
				return "", nil, nil, wire.Invalid("contents: this server's AI provider takes only parts of text")
			}
			m.Content += text
		}
		messages = append(messages, m)
	}
	body["messages"] = messages
	// If Config has a parameter under two names, the name that is last in alphabetical order counts.
	for _, name := range slices.Sorted(maps.Keys(q.Config)) {
		v := q.Config[name]
		if p, known := parameters[name]; known && v != nil {
			body[p.name] = v
		}
	}
	return strings.TrimSuffix(base, "/") + "/chat/completions", http.Header{"Authorization": {"Bearer " + key.Reveal()}}, body, nil
}

// openAIEvent contains the parts of an event that are used.
type openAIEvent struct {
	Choices []struct {
		Delta struct {
			Content *string `json:"content"`
			// Refusal is the model's refusal in words, sent instead of content.
			Refusal *string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
		Total  int64 `json:"total_tokens"`
	} `json:"usage"`
	Error any `json:"error"`
}

// finishes maps OpenAI's finish reasons to Gemini's. No tools are sent to this protocol, so a tool
// call is unexpected.
var finishes = map[string]string{
	"stop": "STOP", "length": "MAX_TOKENS", "content_filter": Safety, "tool_calls": "UNEXPECTED_TOOL_CALL", "function_call": "UNEXPECTED_TOOL_CALL",
}

func (openAI) answer() reader { return &openAIAnswer{} }

// blocked implements protocol. Some servers answer with status 400 and the code content_filter if
// their filter blocks a question.
func (openAI) blocked(body []byte) bool {
	var refusal struct {
		Error struct {
			Code any `json:"code"` // a number in other refusals
		} `json:"error"`
	}
	return decode(body, &refusal) == nil && refusal.Error.Code == "content_filter"
}

// openAIAnswer reads one answer.
type openAIAnswer struct {
	// refused is set if the model refuses in words. The upstream's finish reason is then "stop", so
	// chunk reports Safety instead.
	refused bool
	// reason is the last finish reason, or "".
	reason string
}

// reasoned implements reader. It returns true, because each complete answer has a finish reason or
// ends with [DONE].
func (*openAIAnswer) reasoned() bool { return true }

func (a *openAIAnswer) chunk(data []byte) (Chunk, bool, error) {
	if done(data) {
		if a.refused && a.reason == "" {
			return Chunk{Finish: Safety}, true, nil
		}
		return Chunk{}, true, nil
	}
	var e openAIEvent
	if err := decode(data, &e); err != nil {
		return Chunk{}, false, err
	}
	if e.Error != nil {
		return Chunk{}, false, errUpstream
	}
	var c Chunk
	if u := e.Usage; u != nil {
		c.Usage = (&Usage{u.Prompt, u.Output, u.Total}).sane()
	}
	if len(e.Choices) > 0 {
		first := e.Choices[0]
		if text := first.Delta.Content; text != nil && *text != "" {
			c.Parts = []Part{{Text: text}}
		}
		if text := first.Delta.Refusal; text != nil && *text != "" {
			a.refused = true
			c.Parts = append(c.Parts, Part{Text: text})
		}
		if first.FinishReason != "" {
			if c.Finish = finishes[first.FinishReason]; c.Finish == "" {
				c.Finish = "OTHER"
			}
			if a.refused {
				c.Finish = Safety
			}
			a.reason = c.Finish
		}
	}
	return c, false, nil
}
