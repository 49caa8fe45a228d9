package api

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
)

// Upload returns the multipart request that uploads a file. The body is generated while it is sent.
// content must contain exactly size bytes.
func Upload(s Session, path, name string, content io.Reader, size int) (*Request, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if _, err := w.CreateFormFile("file", name); err != nil {
		return nil, fmt.Errorf("upload %s: %w", name, err)
	}
	head := bytes.Clone(form.Bytes())
	form.Reset()
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("upload %s: %w", name, err)
	}
	return &Request{
		Method: "POST", Path: path, Session: s, ContentType: w.FormDataContentType(),
		Stream: io.MultiReader(bytes.NewReader(head), content, &form), Size: len(head) + size + form.Len(),
	}, nil
}
