package rest

import (
	"cmp"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/settings"
	"atelier/actors/usage"
	"atelier/transport/wire"
)

type conversationRecord struct {
	ID         string `json:"id" is:"Id"`
	CodelabID  string `json:"codelab_id" is:"Id"`
	UserID     string `json:"user_id" is:"Person"`
	UserType   string `json:"user_type" enum:"admin|attendee"`
	UserName   string `json:"user_name" doc:"The person's name when the conversation was saved."`
	StepNumber *int32 `json:"step_number" range:"any"`
	Question   string `json:"question"`
	Answer     string `json:"answer"`
	Model      string `json:"model"`
	CreatedAt  string `json:"created_at" is:"Timestamp"`
}

func toConversation(lab string, c *pb.Conversation) conversationRecord {
	out := conversationRecord{
		c.Id, lab, c.UserId, c.UserType, c.UserName, nil, c.Question, c.Answer, c.Model, wire.Stamp(c.CreatedAt),
	}
	if c.StepNumber != 0 {
		out.StepNumber = &c.StepNumber
	}
	return out
}

type conversationSaveBody struct {
	CodelabID  *string `json:"codelab_id,omitempty" null:"true" doc:"Attendees who are registered in only one codelab can omit it."`
	StepNumber *int32  `json:"step_number,omitempty" null:"true" range:"1.." doc:"The number of a step."`
	Question   *string `json:"question" length:"1..100000"`
	Answer     *string `json:"answer" length:"1..200000"`
	Model      string  `json:"model,omitempty" doc:"The requested model. If it is not one of «ai_models», the server stores «ai_model» instead."`
}

func saveConversation(r *Request) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in conversationSaveBody
	if err := wire.Decode(b, &in); err != nil {
		return err
	}
	if or(in.CodelabID, "") != "" || r.EnterAsAdmin() {
		if err := r.enterNamed(in.CodelabID); err != nil {
			return err
		}
	} else if err := r.EnterOwn(); err != nil {
		return err
	}
	if err := checkWhole(&in); err != nil { // checked after the permission for the codelab in the body
		return err
	}
	if in.StepNumber != nil && *in.StepNumber < 1 {
		return wire.Invalid("step_number must be the number of a step")
	}
	v, err := r.do(codelab.SaveConversation{
		StepNumber: or(in.StepNumber, 0), Question: *in.Question, Answer: *in.Answer, Model: r.api.AIModels.Used(in.Model),
	})
	if err != nil {
		return err
	}
	return r.JSON(created{v.(*pb.Conversation).Id})
}

func getConversations(r *Request) error {
	v := r.view()
	out := make([]conversationRecord, 0, v.Conversations.Len())
	for _, c := range v.Conversations.All() {
		out = append(out, toConversation(r.Codelab.ID(), c))
	}
	return r.JSON(out)
}

// usageNumbers counts the questions to a language model and their tokens.
type usageNumbers struct {
	Queries      int64 `json:"queries" doc:"The number of forwarded questions."`
	Failed       int64 `json:"failed" doc:"The number of questions without an answer, or with an incomplete one."`
	PromptTokens int64 `json:"prompt_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	TotalTokens  int64 `json:"total_tokens"`
}

func (n *usageNumbers) add(m usageNumbers) {
	n.Queries += m.Queries
	n.Failed += m.Failed
	n.PromptTokens += m.PromptTokens
	n.OutputTokens += m.OutputTokens
	n.TotalTokens += m.TotalTokens
}

type modelUsage struct {
	Model string `json:"model"`
	usageNumbers
}

type codelabUsage struct {
	CodelabID *string `json:"codelab_id" is:"Id"`
	usageNumbers
}

// aiUsage sums questions and tokens in total, by model, and by codelab, highest token count
// first. Questions without a codelab are under null.
func aiUsage(r *Request) error {
	var total usageNumbers
	models := map[string]*usageNumbers{}
	codelabs := []codelabUsage{}
	count := func(into *usageNumbers, list []*usage.AIUsage) {
		for _, u := range list {
			if models[u.Model] == nil {
				models[u.Model] = &usageNumbers{}
			}
			n := usageNumbers{u.Queries, u.Failed, u.PromptTokens, u.OutputTokens, u.TotalTokens}
			models[u.Model].add(n)
			into.add(n)
			total.add(n)
		}
	}
	err := r.api.List.Usages(func(id string, list []*usage.AIUsage) {
		lab := codelabUsage{CodelabID: &id}
		count(&lab.usageNumbers, list)
		codelabs = append(codelabs, lab)
	})
	if err != nil {
		return err
	}
	h, err := r.api.Settings.Get(settings.ID)
	if err != nil {
		return err
	}
	var none codelabUsage
	count(&none.usageNumbers, h.View().AIUsage)
	if none.Queries > 0 {
		codelabs = append(codelabs, none)
	}
	byModel := []modelUsage{}
	for model, n := range models {
		byModel = append(byModel, modelUsage{model, *n})
	}
	slices.SortFunc(byModel, func(a, b modelUsage) int {
		return cmp.Or(cmp.Compare(b.TotalTokens, a.TotalTokens), cmp.Compare(a.Model, b.Model))
	})
	slices.SortStableFunc(codelabs, func(a, b codelabUsage) int { return cmp.Compare(b.TotalTokens, a.TotalTokens) })
	return r.JSON(usageRecord{total, byModel, codelabs})
}

type usageRecord struct {
	usageNumbers
	Models   []modelUsage   `json:"models"`
	Codelabs []codelabUsage `json:"codelabs"`
}
