package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
)

// Login logs an admin in and returns the session. The display name distinguishes facilitators.
func (c *Client) Login(id, password, displayName string) (Session, error) {
	body, err := json.Marshal(map[string]string{"admin_id": id, "admin_pw": password, "display_name": displayName})
	if err != nil {
		return Session{}, fmt.Errorf("log in: %w", err)
	}
	a, err := c.Do(&Request{Method: "POST", Path: "/login", Body: body})
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		return Session{}, fmt.Errorf("log in as %s: %w", id, err)
	}
	return a.Session, nil
}

// Import creates a codelab from a claat Markdown file.
func (c *Client) Import(s Session, name string, markdown []byte) (*Codelab, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(markdown)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", name, err)
	}
	var lab Codelab
	r := &Request{Method: "POST", Path: "/codelabs/import", Session: s, Body: form.Bytes(), ContentType: w.FormDataContentType()}
	if err := c.fetch(r, &lab); err != nil {
		return nil, fmt.Errorf("import %s: %w", name, err)
	}
	return &lab, nil
}

// Create creates a codelab with these steps, each given as its title and its content. The returned
// codelab has no steps; see GetCodelab.
func (c *Client) Create(s Session, title string, steps [][2]string) (*Codelab, error) {
	record, err := json.Marshal(map[string]string{"title": title, "description": "", "author": "atelier-bench"})
	if err != nil {
		return nil, fmt.Errorf("create codelab: %w", err)
	}
	var lab Codelab
	if err := c.fetch(&Request{Method: "POST", Path: "/codelabs", Session: s, Body: record}, &lab); err != nil {
		return nil, fmt.Errorf("create codelab: %w", err)
	}
	list := make([]map[string]string, len(steps))
	for i, step := range steps {
		list[i] = map[string]string{"title": step[0], "content_markdown": step[1]}
	}
	if err := c.Send(s, "PUT", "/codelabs/"+lab.ID+"/steps", map[string]any{"steps": list}); err != nil {
		return nil, fmt.Errorf("write steps: %w", err)
	}
	return &lab, nil
}

// Send sends a JSON body, and ignores the content of a successful response. A status other than 2xx
// is an error.
func (c *Client) Send(s Session, method, path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	a, err := c.Do(&Request{Method: method, Path: path, Session: s, Body: b})
	if err != nil {
		return err
	}
	return a.Err()
}

// GetCodelab reads a codelab with its steps.
func (c *Client) GetCodelab(s Session, id string) (*Codelab, error) {
	var lab Codelab
	// The API returns an array of two elements: the codelab and its steps.
	pair := [2]any{&lab, &lab.Steps}
	if err := c.fetch(&Request{Method: "GET", Path: "/codelabs/" + id, Session: s}, &pair); err != nil {
		return nil, fmt.Errorf("read codelab %s: %w", id, err)
	}
	return &lab, nil
}

// Get makes a GET request, and decodes the JSON of the response into v.
func (c *Client) Get(s Session, path string, v any) error {
	if err := c.fetch(&Request{Method: "GET", Path: path, Session: s}, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func (c *Client) fetch(r *Request, v any) error {
	a, err := c.Do(r)
	if err != nil {
		return err
	}
	return a.Decode(v)
}
