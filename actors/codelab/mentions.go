package codelab

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Texts refer to uploads by path. An uploaded file must remain while a text refers to it, so the
// commit that changes a text also writes a row for each added or removed reference.

// maxMentions bounds the uploads in one set of names. Further mentions do not protect their files.
const maxMentions = 5000

// names is a set of uploads.
type names map[string]bool

func (n names) add(texts ...string) {
	for _, text := range texts {
		files.Mentioned(text, func(name string, _ int) {
			if len(n) < maxMentions {
				n[name] = true
			}
		})
	}
}

// inText returns the uploads mentioned in a codelab's texts, in the address of its certificate's
// logo, and in its pinned message.
func inText(m *pb.Codelab, steps []*pb.Step, quizzes []*pb.Quiz, pin string) names {
	n := names{}
	n.add(m.GetDescription(), m.GetGuideMarkdown(), m.GetLogoUrl(), pin)
	for _, st := range steps {
		n.add(st.ContentMarkdown)
	}
	for _, q := range quizzes {
		n.add(q.Question)
		n.add(q.Options...)
	}
	return n
}

// textRows returns the rows that record added and removed mentions in the text. Files without
// references remain for a grace period.
func (c call) textRows(before, after names) (rows []durable.Row) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !before[name] {
			rows = append(rows, files.UseRow(name, c.s.id, files.ByText))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !after[name] {
			rows = append(rows, files.UnuseRow(name, c.s.id, files.ByText, c.s.rules.FileGrace))
		}
	}
	return rows
}

// talkRows returns the rows that record the mentions in a message.
func (c call) talkRows(message string) (rows []durable.Row) {
	if !strings.Contains(message, files.Folder) {
		return nil // the usual case
	}
	n := names{}
	n.add(message)
	for _, name := range slices.Sorted(maps.Keys(n)) {
		rows = append(rows, files.UseRow(name, c.s.id, files.ByTalk))
	}
	return rows
}

// untalk returns the uploads that are mentioned only in messages to be removed, and the rows that
// remove these references. goes selects the chat messages, and gone the comments.
func (c call) untalk(goes func(*pb.ChatMessage) bool, gone func(*pb.Thread, *pb.Comment) bool) (dropped []string, rows []durable.Row) {
	lost, kept := names{}, names{}
	place := func(leaves bool, message string) {
		switch {
		case !strings.Contains(message, files.Folder):
		case leaves:
			lost.add(message)
		default:
			kept.add(message)
		}
	}
	for _, m := range c.s.chat.All() {
		place(goes(m), m.Message)
	}
	for _, t := range c.s.threads.All() {
		for _, m := range t.Messages {
			place(gone(t, m), m.Message)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if !kept[name] {
			dropped = append(dropped, name)
			rows = append(rows, files.UnuseRow(name, c.s.id, files.ByTalk, 0))
		}
	}
	return dropped, rows
}

// Filters of untalk that match no message and no comment.
func noMessage(*pb.ChatMessage) bool         { return false }
func noComment(*pb.Thread, *pb.Comment) bool { return false }

// untalkThreads returns untalk's rows for the threads on steps that are not among steps.
func (c call) untalkThreads(steps []*pb.Step) []durable.Row {
	goes := func(t *pb.Thread) bool { return t.TargetType == TargetStep && !hasStep(steps, t.TargetStepId) }
	for _, t := range c.s.threads.All() {
		if goes(t) {
			_, rows := c.untalk(noMessage, func(t *pb.Thread, _ *pb.Comment) bool { return goes(t) })
			return rows
		}
	}
	return nil
}

func hasStep(steps []*pb.Step, id string) bool {
	return slices.ContainsFunc(steps, func(st *pb.Step) bool { return st.Id == id })
}

// files returns every upload to which the codelab refers, and every submission, for the deletion of
// the codelab.
func (s *State) files() files.Forgotten {
	n := s.inText()
	for _, m := range s.materials.All() {
		if m.Upload != "" {
			n[m.Upload] = true
		}
	}
	for _, m := range s.chat.All() {
		n.add(m.Message)
	}
	for _, t := range s.threads.All() {
		for _, m := range t.Messages {
			n.add(m.Message)
		}
	}
	f := files.Forgotten{Uploads: slices.Sorted(maps.Keys(n))}
	for _, x := range s.submissions.All() {
		f.Submissions = append(f.Submissions, x)
	}
	return f
}

// TextUploads returns the uploads that a codelab's texts and its logo's address mention, sorted.
// The pinned message, chat and comments are not included.
func (v *View) TextUploads() []string {
	return slices.Sorted(maps.Keys(inText(v.Meta, v.Steps, v.Quizzes, "")))
}

// Mentions returns the uploads in all texts of a command. It can return uploads to which the
// command does not make the codelab refer. They do no harm, because uploads are protected only
// while the command is in progress.
func Mentions(b Body) []string {
	switch b := b.(type) { // the most frequent commands need no reflection
	case Progress, SetPulse:
		return nil
	case PostChat:
		if !strings.Contains(b.Message, files.Folder) {
			return nil
		}
	}
	n := names{}
	n.addAll(reflect.ValueOf(b))
	return slices.Sorted(maps.Keys(n))
}

// addAll adds the uploads in a value's strings, at any depth. A string can be a text with paths of
// uploads, or the name of an upload.
func (n names) addAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n.addAll(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n.addAll(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			n.addAll(v.Index(i))
		}
	case reflect.String:
		text := v.String()
		n.add(text)
		if text != "" && files.NameAt(text) == text && len(n) < maxMentions {
			n[text] = true
		}
	}
	// Commands contain no maps.
}
