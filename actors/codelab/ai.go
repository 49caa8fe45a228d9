package codelab

import (
	"strconv"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/usage"
)

// AskAI decides whether the caller is allowed to ask the AI about this codelab. The sender of the
// command then sends the question to the AI itself, because an actor must not wait for another
// server. The audit trail records the model and the step of each permitted question.
type AskAI struct {
	Model string
	// StepNumber is 0 if the question is not about a step.
	StepNumber int32
}

func (a AskAI) decide(c call) (decision, error) {
	if !c.admin() {
		if err := c.live(); err != nil {
			return decision{}, err
		}
		if c.s.meta.AiDisabled {
			return decision{}, durable.Reject(durable.Forbidden, "the AI is switched off for this codelab")
		}
	}
	about := map[string]string{"model": a.Model}
	if a.StepNumber != 0 {
		if err := c.stepExists(a.StepNumber); err != nil {
			return decision{}, err
		}
		about["step_number"] = strconv.Itoa(int(a.StepNumber))
	}
	return decision{Rows: c.audit("ai_query", c.s.id, about)}, nil
}

func (c call) stepExists(n int32) error {
	if n < 1 || int(n) > len(c.s.steps) {
		return durable.Reject(durable.Invalid, "step_number must be the number of a step")
	}
	return nil
}

// NoteAIUse counts the tokens of a query. The same commit updates the codelab's usage row, so that
// totals can be computed without loading codelabs.
type NoteAIUse struct {
	Usage *usage.AIUsage
}

func (n NoteAIUse) decide(c call) (decision, error) {
	if n.Usage == nil {
		return decision{}, durable.Reject(durable.Invalid, "usage is required")
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_AiUsed{AiUsed: &pb.AIUsed{Usage: n.Usage}}})
	d.Rows = []durable.Row{catalog.UsageRow(c.s.id, usage.Add(c.s.aiUsage, n.Usage))}
	return d, nil
}
