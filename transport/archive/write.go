package archive

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/files"
)

// Write writes a codelab as our ZIP, with the uploads that it uses.
func Write(w io.Writer, v *codelab.View, uploads *files.Register) error {
	p := NewPack(w, time.UnixMilli(v.UpdatedAt))
	if err := p.Codelab(v, uploads); err != nil {
		return err
	}
	return p.Close()
}

// Codelab adds the files that Write writes.
func (p *Pack) Codelab(v *codelab.View, uploads *files.Register) error {
	m := v.Meta
	ai, anonymous, public := !m.AiDisabled, !m.QuestionsNamed, yes(m.IsPublic)
	err := p.JSON("codelab.json", document{
		Format: format, FormatVersion: formatVersion, Slug: m.Slug, Title: m.Title, Description: m.Description, Author: m.Author,
		IsPublic: &public, QuizEnabled: yes(m.QuizEnabled), RequireQuiz: yes(m.RequireQuiz), RequireFeedback: yes(m.RequireFeedback),
		RequireSubmission: yes(m.RequireSubmission), RequireChecks: m.RequireChecks, AIEnabled: &ai,
		Questions: codelab.Askings[m.Questions], QuestionsAnonymous: &anonymous, ShareCode: codelab.Sharings[m.ShareCode],
		Organiser: m.Organiser, Hours: codelab.OwnHours(m), LogoURL: m.LogoUrl, Accent: codelab.Accents[m.Accent], CertificateText: m.CertificateText, Seal: m.Seal,
		EmailRetentionDays: m.EmailRetentionDays, ChatRetentionDays: m.ChatRetentionDays,
		CreatedAt: time.UnixMilli(m.CreatedAt).UTC().Format("2006-01-02T15:04:05"),
	})
	if err != nil {
		return err
	}
	for i, st := range v.Steps {
		// A JSON string is also a YAML string, so any title can be represented.
		title, err := json.Marshal(st.Title)
		if err != nil {
			return fmt.Errorf("encode title of step %d: %w", i+1, err)
		}
		front := fmt.Sprintf("---\ntitle: %s\n", title)
		if st.DurationMinutes > 0 {
			front += fmt.Sprintf("duration_minutes: %d\n", st.DurationMinutes)
		}
		if err := p.Add(fmt.Sprintf("steps/%02d.md", i+1), []byte(front+"---\n"+st.ContentMarkdown)); err != nil {
			return err
		}
	}
	if m.GuideMarkdown != nil {
		if err := p.Add("guide.md", []byte(*m.GuideMarkdown)); err != nil {
			return err
		}
	}
	quizzes := make([]quiz, len(v.Quizzes))
	for i, q := range v.Quizzes {
		quizzes[i] = fromQuiz(q)
	}
	if err := p.JSON("quizzes.json", quizzes); err != nil {
		return err
	}
	if len(v.Polls) > 0 {
		polls := make([]poll, len(v.Polls))
		for i, x := range v.Polls {
			polls[i] = fromPoll(x.Poll, v.Steps)
		}
		if err := p.JSON("polls.json", polls); err != nil {
			return err
		}
	}
	materials := make([]material, v.Materials.Len())
	for i, m := range v.Materials.All() {
		materials[i] = material{Title: m.Title, MaterialType: m.MaterialType, LinkURL: m.LinkUrl}
		if m.Upload != "" {
			materials[i].File = folder + m.Upload
		}
	}
	if err := p.JSON("materials.json", materials); err != nil {
		return err
	}
	return p.uploads(v, uploads)
}
