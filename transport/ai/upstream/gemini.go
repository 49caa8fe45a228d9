package upstream

import (
	"net/http"
	"net/url"
	"strings"

	"atelier/transport/ai/keys"
)

// gemini implements protocol with models/<model>:streamGenerateContent?alt=sse.
type gemini struct{}

func (gemini) request(base string, key keys.Key, q *Query) (string, http.Header, any, error) {
	type system struct {
		Parts []Part `json:"parts"`
	}
	body := struct {
		Contents []Content      `json:"contents"`
		System   *system        `json:"system_instruction,omitempty"`
		Config   map[string]any `json:"generationConfig,omitempty"`
		Tools    []any          `json:"tools,omitempty"`
	}{Contents: q.Contents, Config: q.Config, Tools: q.Tools}
	if q.System != "" {
		body.System = &system{[]Part{{Text: &q.System}}}
	}
	at := strings.TrimSuffix(base, "/") + "/models/" + url.PathEscape(q.Model) + ":streamGenerateContent?alt=sse"
	return at, http.Header{"X-Goog-Api-Key": {key.Reveal()}}, body, nil
}

// geminiEvent contains the parts of an event that are used.
type geminiEvent struct {
	Candidates []struct {
		Content struct {
			Parts []Part `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
		Grounding    any    `json:"groundingMetadata"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *Usage `json:"usageMetadata"`
	Error any    `json:"error"`
}

func (gemini) answer() reader { return gemini{} }

// reasoned implements reader. It returns false, because some servers of this protocol send no
// finish reason.
func (gemini) reasoned() bool { return false }

// blocked implements protocol. It returns false, because this protocol reports a block in an event,
// never with status 400.
func (gemini) blocked([]byte) bool { return false }

func (gemini) chunk(data []byte) (Chunk, bool, error) {
	if done(data) {
		return Chunk{}, true, nil
	}
	var e geminiEvent
	if err := decode(data, &e); err != nil {
		return Chunk{}, false, err
	}
	if e.Error != nil {
		return Chunk{}, false, errUpstream
	}
	c := Chunk{Usage: e.Usage.sane()}
	if e.PromptFeedback.BlockReason != "" {
		c.Finish = Safety // unless the candidate has its own reason
	}
	if len(e.Candidates) == 0 {
		return c, false, nil
	}
	first := e.Candidates[0]
	for _, p := range first.Content.Parts {
		if p.Text != nil || p.FunctionCall != nil {
			c.Parts = append(c.Parts, p)
		}
	}
	if first.FinishReason != "" {
		c.Finish = word(first.FinishReason)
	}
	if m, ok := first.Grounding.(map[string]any); ok && len(m) > 0 {
		c.Grounding = m
	}
	// The finish reason does not end the stream, because an event with token counts can follow.
	return c, false, nil
}
