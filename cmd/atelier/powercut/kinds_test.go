package powercut

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// kind is a kind of acknowledged client operation.
type kind struct {
	name string
	// add creates a new item on the server, in a codelab, and fills in the item's fields.
	add func(l *load, it *item) error
	// remove removes an item from the server. It is nil if the item cannot be removed.
	remove func(s *server, it item) error
	// there reports whether a server has the item. The item must be as it was acknowledged, or
	// completely gone. Anything else is an error.
	there func(v *view, it item) (bool, error)
}

// kindsOfItems lists the kinds of items that the load creates. Each kind follows the kinds that it
// needs.
var kindsOfItems = []kind{
	{"codelab",
		func(l *load, it *item) error {
			var made record
			err := l.call(http.MethodPost, "/api/codelabs", record{"title": "Codelab " + it.Key}, &made)
			it.Codelab, it.Key = "", made.text("id")
			return err
		},
		func(s *server, it item) error { return s.call(http.MethodDelete, lab(it.Key), nil, nil) },
		func(v *view, it item) (bool, error) { return v.found(lab(it.Key)) }},
	{"steps",
		func(l *load, it *item) error {
			// The text is large, so that it fills memtables and is stored as a value of several
			// parts.
			it.Content = strings.Repeat("About "+it.Key+".\n", 3500)
			step := record{"title": it.Key, "content_markdown": it.Content}
			err := l.call(http.MethodPut, lab(it.Codelab)+"/steps", record{"steps": []record{step, step, step}}, nil)
			it.Content = it.Content[:100]
			return err
		}, nil,
		func(v *view, it item) (bool, error) { return v.holds(lab(it.Codelab), it.Content) }},
	{"attendee",
		func(l *load, it *item) error {
			var made record
			err := l.callAs(nobody, http.MethodPost, lab(it.Codelab)+"/register", record{"name": "Attendee " + it.Key, "code": "4711"}, &made)
			it.Key = made.text("id")
			return err
		},
		func(s *server, it item) error {
			return s.call(http.MethodDelete, lab(it.Codelab)+"/attendees/"+it.Key, nil, nil)
		},
		func(v *view, it item) (bool, error) { return v.holds(lab(it.Codelab)+"/attendees", it.Key) }},
	{"message",
		func(l *load, it *item) error {
			it.Key = "message " + it.Key + "."
			return l.call(http.MethodPost, lab(it.Codelab)+"/messages", record{"type": "chat", "message": it.Key + strings.Repeat(" more", 50)}, nil)
		},
		func(s *server, it item) error {
			var all []record
			if err := s.call(http.MethodGet, lab(it.Codelab)+"/chat?limit=1000", nil, &all); err != nil {
				return err
			}
			for _, m := range all {
				if strings.HasPrefix(m.text("message"), it.Key) {
					return s.call(http.MethodDelete, lab(it.Codelab)+"/chat/"+m.text("id"), nil, nil)
				}
			}
			return errors.New("the message does not exist")
		},
		func(v *view, it item) (bool, error) { return v.holds(lab(it.Codelab)+"/chat?limit=1000", it.Key) }},
	{"file",
		func(l *load, it *item) error {
			it.Content = strings.Repeat("Content of "+it.Key+".\n", 700)
			var sent, made record
			if err := l.call(http.MethodPost, "/api/upload/material", upload{"notes.txt", []byte(it.Content)}, &sent); err != nil {
				return err
			}
			err := l.call(http.MethodPost, lab(it.Codelab)+"/materials", record{"title": "Notes", "material_type": "file", "file_path": sent.text("url")}, &made)
			it.Key, it.At, it.Content = made.text("id"), sent.text("url"), it.Content[:30]
			return err
		},
		func(s *server, it item) error {
			return s.call(http.MethodDelete, lab(it.Codelab)+"/materials/"+it.Key, nil, nil)
		},
		func(v *view, it item) (bool, error) {
			listed, err := v.holds(lab(it.Codelab)+"/materials", it.Key)
			if err != nil || !listed {
				return false, err
			}
			whole, err := v.holds(it.At, it.Content)
			if err == nil && !whole {
				err = fmt.Errorf("%s is listed, but %s is not its file", it.name(), it.At)
			}
			return whole, err
		}},
	{"code",
		func(l *load, it *item) error {
			if !l.coded[it.Codelab] {
				if err := l.call(http.MethodPost, "/api/codeserver", record{"codelab_id": it.Codelab, "structure_type": "branch", "workspace_files": []record{}}, nil); err != nil {
					return err
				}
				l.coded[it.Codelab] = true
			}
			it.Key += ".go"
			it.Content = "package p // " + it.Key
			it.At = "/api/codeserver/" + it.Codelab + "/branches/main/file?file=" + url.QueryEscape(it.Key)
			return l.call(http.MethodPost, "/api/codeserver/"+it.Codelab+"/branches/main/files",
				record{"files": []record{{"path": it.Key, "content": it.Content}}, "commit_message": it.Key}, nil)
		}, nil,
		func(v *view, it item) (bool, error) { return v.holds(it.At, it.Content) }},
	{"participant",
		func(l *load, it *item) error {
			var made struct {
				ID, Identity string
				Key          struct{ Secret string }
			}
			scope := "tokenize"
			if l.platform != "" {
				scope = "detokenize"
			}
			if err := l.call(http.MethodPost, "/api/admin/participants", record{"name": "P " + it.Key, "kind": map[string]string{"tokenize": "platform", "detokenize": "business"}[scope], "scopes": []string{scope}, "environment": "production"}, &made); err != nil {
				return err
			}
			it.Codelab, it.Key = "", made.ID
			if scope == "tokenize" {
				l.platform = made.Key.Secret
				return nil
			}
			l.business, l.identity = made.Key.Secret, made.Identity
			return l.call(http.MethodPost, "/api/admin/participants/"+made.ID+"/acknowledge", record{"version": "1"}, nil)
		}, nil,
		func(v *view, it item) (bool, error) { return v.holds("/api/admin/participants", it.Key) }},
	{"token",
		func(l *load, it *item) error {
			checkout, made := it.Key, record{}
			card := record{"type": "card", "card_number_type": "fpan", "number": "4111111111111111", "expiry_month": 12, "expiry_year": 2050, "cvc": "737", "name": "A Person"}
			binding := record{"checkout_id": checkout, "identity": record{"access_token": l.identity}}
			err := l.callAs(l.platform, http.MethodPost, "/handler/tokenize", record{"credential": card, "binding": binding}, &made)
			it.Codelab, it.Key, it.At, it.Content = "", made.text("token"), checkout, l.business
			it.Until = time.Now().Add(14 * time.Minute).Unix()
			return err
		},
		func(s *server, it item) error {
			return s.callAs(it.Content, http.MethodPost, "/handler/detokenize", useOf(it), nil)
		},
		func(v *view, it item) (bool, error) {
			var state record
			err := v.s.callAs(it.Content, http.MethodPost, "/handler/introspect", useOf(it), &state)
			if s := (status{}); errors.As(err, &s) && s.code == http.StatusNotFound {
				return false, nil
			}
			return state.text("state") == "active", err
		}},
	{"API token",
		func(l *load, it *item) error {
			var made record
			err := l.call(http.MethodPost, "/api/admin/tokens", record{"name": it.Key}, &made)
			it.Codelab, it.Key = "", made.text("id")
			return err
		},
		func(s *server, it item) error {
			return s.call(http.MethodDelete, "/api/admin/tokens/"+it.Key, nil, nil)
		},
		func(v *view, it item) (bool, error) { return v.holds("/api/admin/tokens", it.Key) }},
}

func lab(id string) string { return "/api/codelabs/" + id }

func useOf(it item) record {
	return record{"token": it.Key, "binding": record{"checkout_id": it.At}}
}

func kindOf(it item) kind {
	for _, k := range kindsOfItems {
		if k.name == it.Kind {
			return k
		}
	}
	panic("unknown kind " + it.Kind)
}

// view reads each path of a server once.
type view struct {
	s    *server
	read map[string]string // by path; "" if not found
}

func newView(s *server) *view { return &view{s, map[string]string{}} }

func (v *view) holds(path, text string) (bool, error) {
	body, ok := v.read[path]
	if !ok {
		var b []byte
		err := v.s.call(http.MethodGet, path, nil, &b)
		if s := (status{}); errors.As(err, &s) && s.code == http.StatusNotFound {
			err = nil
		}
		if err != nil {
			return false, fmt.Errorf("GET %s: %w", path, err)
		}
		body = string(b)
		v.read[path] = body
	}
	// JSON encodes a line break as the two characters "\n", so search for that form, too.
	return body != "" && (strings.Contains(body, text) || strings.Contains(body, strings.ReplaceAll(text, "\n", `\n`))), nil
}

func (v *view) found(path string) (bool, error) { return v.holds(path, "") }

// check returns the violations of an expectation.
func (v *view) check(e expectation) (wrong []string) {
	verify := func(items []item, want bool, how string) {
		for _, it := range items {
			if want && it.Until != 0 && time.Now().Unix() > it.Until {
				continue
			}
			got, err := kindOf(it).there(v, it)
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", it.name(), err))
			} else if got != want {
				wrong = append(wrong, it.name()+how)
			}
		}
	}
	verify(e.there, true, " was acknowledged, but is lost")
	verify(e.gone, false, " was acknowledged as removed, but exists again")
	return wrong
}
