package main

import (
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"

	"atelier/transport/archive"
	"atelier/transport/control"
)

type importCmd struct {
	common
	File string `arg:"" help:"A claat Markdown file, or a ZIP of one, or an exported codelab." type:"existingfile"`
}

// imported is a codelab that was made of a file.
type imported struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	JoinCode string            `json:"join_code"`
	IsPublic bool              `json:"is_public"`
	LeftOut  []archive.LeftOut `json:"left_out"`
}

// Run imports through the running server, or into the store when none runs.
func (c importCmd) Run() error {
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > archive.MaxPacked {
		return fmt.Errorf("import %s: the file is larger than %d MiB", c.File, archive.MaxPacked>>20)
	}
	var made imported
	var steps []struct{}
	err = c.operate(func(server *control.Client) error {
		if err := sendFile(server, "/api/codelabs/import", f, &made); err != nil {
			return fmt.Errorf("import %s: %w", c.File, err)
		}
		return server.Call("GET", "/api/codelabs/"+made.ID, nil, &[]any{&struct{}{}, &steps})
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s  %s (%d steps, join code %s)\n", made.ID, made.Title, len(steps), made.JoinCode)
	if made.IsPublic {
		fmt.Println("public: whoever reaches the server can read it")
	}
	for _, l := range made.LeftOut {
		fmt.Print("left out: ")
		if l.File != "" {
			fmt.Printf("%q: ", l.File) // quoted: the name is not ours, and goes to a terminal
		}
		fmt.Println(l.Reason)
	}
	return nil
}

// sendFile uploads a file as the form that the interface takes.
func sendFile(server *control.Client, path string, f *os.File, out any) error {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("file", filepath.Base(f.Name()))
		if err == nil {
			_, err = io.Copy(part, f)
		}
		if err == nil {
			err = form.Close()
		}
		_ = w.CloseWithError(err)
	}()
	defer func() { _ = r.Close() }() // a refusal comes before the end
	return server.Send("POST", path, form.FormDataContentType(), r, func(answer io.Reader) error {
		return json.NewDecoder(answer).Decode(out)
	})
}
