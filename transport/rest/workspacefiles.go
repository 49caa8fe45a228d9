package rest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/transport/wire"
)

// workspaceFile is a file in a request.
type workspaceFile struct {
	Path     *string `json:"path" null:"false" length:"1..1024"`
	Content  *string `json:"content" null:"false"`
	Encoding *string `json:"encoding" optional:"true" null:"false" enum:"utf-8|base64" doc:"«base64» (RFC 4648, with padding) for content that is not text. The default is «utf-8»."`
	Mode     *string `json:"mode" optional:"true" null:"false" enum:"100644|100755" doc:"«100755» for an executable file. If omitted, an existing file keeps its mode, and a new one gets «100644»."`
}

// Encodings of content.
const (
	textEncoding   = "utf-8"
	base64Encoding = "base64"
)

// content returns the decoded content.
func (f *workspaceFile) content() ([]byte, error) {
	switch or(f.Encoding, textEncoding) {
	case textEncoding:
		return []byte(*f.Content), nil
	case base64Encoding:
		b, err := base64.StdEncoding.Strict().DecodeString(*f.Content)
		if err != nil {
			return nil, wire.Invalid("content is not valid base64 (RFC 4648, with padding)")
		}
		return b, nil
	}
	return nil, wire.Invalid("encoding must be %q or %q", textEncoding, base64Encoding)
}

// mode returns the requested mode, or KeptMode if none is requested.
func (f *workspaceFile) mode() (code.Mode, error) {
	if f.Mode == nil {
		return code.KeptMode, nil
	}
	for _, m := range []code.Mode{code.Regular, code.Executable} {
		if *f.Mode == m.String() {
			return m, nil
		}
	}
	return code.KeptMode, wire.Invalid("mode must be %q or %q", code.Regular, code.Executable)
}

func toFiles(field string, in []workspaceFile) ([]code.File, error) {
	if len(in) > code.MaxFiles {
		return nil, wire.Invalid("%s has more than %d items", field, code.MaxFiles)
	}
	out := make([]code.File, len(in))
	for i, f := range in {
		if f.Path == nil {
			return nil, wire.Invalid("%s[%d].path is required", field, i)
		}
		if f.Content == nil {
			return nil, wire.Invalid("%s[%d].content is required", field, i)
		}
		if err := code.CheckPath(*f.Path); err != nil {
			return nil, wire.Invalid("%s[%d].path: %v", field, i, err)
		}
		content, err := f.content()
		if err != nil {
			return nil, wire.Invalid("%s[%d].%v", field, i, err)
		}
		mode, err := f.mode()
		if err != nil {
			return nil, wire.Invalid("%s[%d].%v", field, i, err)
		}
		out[i] = code.File{Path: *f.Path, Content: content, Mode: mode}
	}
	return out, nil
}

// head returns the branch or folder that the request's path names. A caller that uses the tree must
// hold the codelab's lock in Workspaces.
func (r *Request) head(structure string) (w *pb.Workspace, name, tree string, err error) {
	name = r.Param(structure)
	if err := code.CheckName(name); err != nil {
		return nil, "", "", wire.Invalid("%s: %v", structure, err)
	}
	if w, err = r.workspace(); err != nil {
		return nil, "", "", err
	}
	tree, known := treeOf(w, name)
	if w.StructureType != structure || !known {
		return nil, "", "", durable.Reject(durable.Missing, "%s not found", structure)
	}
	return w, name, tree, nil
}

// readableHead does the same as head, but only if the client is allowed to read the branch or folder.
// The codelab's lock in Workspaces must be held.
func (r *Request) readableHead(structure string) (w *pb.Workspace, tree string, err error) {
	return r.readableNamed(structure, structure, r.Param(structure))
}

// readableNamed returns the tree of the named branch or folder if the client is allowed to read it.
// field is the field with the name, for errors. An attendee cannot find out whether an unshared
// branch or folder exists.
func (r *Request) readableNamed(field, structure, name string) (w *pb.Workspace, tree string, err error) {
	if err := code.CheckName(name); err != nil {
		return nil, "", wire.Invalid("%s: %v", field, err)
	}
	if w, err = r.readable(); err != nil {
		return nil, "", err
	}
	tree, known := treeOf(w, name)
	switch {
	case w.StructureType == structure && known:
		return w, tree, nil
	case r.IsAdmin():
		return nil, "", durable.Reject(durable.Missing, "%s not found", structure)
	}
	return nil, "", errNotShared
}

func listFiles(structure string) func(*Request) error {
	return func(r *Request) error {
		defer r.api.Workspaces.RLock(r.Codelab.ID())()
		w, tree, err := r.readableHead(structure)
		if err != nil {
			return err
		}
		paths, err := r.api.Workspaces.List(w.Id, kindOf(structure), tree)
		if err != nil {
			return storeError(err)
		}
		return r.JSON(paths)
	}
}

// fileInfo is a stored file as sent to clients.
type fileInfo struct {
	Path   string `json:"path"`
	Mode   string `json:"mode" enum:"100644|100755"`
	Size   int64  `json:"size" range:"0..8388608" doc:"Bytes."`
	Binary bool   `json:"binary" doc:"The file is not valid UTF-8, or contains a NUL."`
}

func toFileInfo(i code.Info) fileInfo { return fileInfo{i.Path, i.Mode.String(), i.Size, i.Binary} }

func describeFiles(structure string) func(*Request) error {
	return func(r *Request) error {
		defer r.api.Workspaces.RLock(r.Codelab.ID())()
		w, tree, err := r.readableHead(structure)
		if err != nil {
			return err
		}
		infos, err := r.api.Workspaces.Describe(w.Id, kindOf(structure), tree)
		if err != nil {
			return storeError(err)
		}
		out := make([]fileInfo, len(infos))
		for i, info := range infos {
			out[i] = toFileInfo(info)
		}
		return r.JSON(out)
	}
}

// jsonFormat requests a file as a JSON object with its content and description.
const jsonFormat = "json"

func readFile(structure string) func(*Request) error {
	return func(r *Request) error {
		defer r.api.Workspaces.RLock(r.Codelab.ID())()
		w, tree, err := r.readableHead(structure)
		if err != nil {
			return err
		}
		path := r.Query("file")
		if err := code.CheckPath(path); err != nil {
			return wire.Invalid("file: %v", err)
		}
		format := r.Query("format")
		if format != "" && format != jsonFormat {
			return wire.Invalid("format must be %q or omitted", jsonFormat)
		}
		content, info, err := r.api.Workspaces.Read(w.Id, kindOf(structure), tree, path)
		if err != nil {
			return storeError(err)
		}
		if format == jsonFormat {
			return r.JSON(toFileContent(info, content))
		}
		kind := "text/plain; charset=utf-8"
		if info.Binary {
			kind = "application/octet-stream"
		}
		r.SetContentType(kind)
		r.Response.SetBodyRaw(content)
		return nil
	}
}

// fileContent is a stored file with its content, in the same form as for writing.
type fileContent struct {
	fileInfo
	Content  string `json:"content"`
	Encoding string `json:"encoding" enum:"utf-8|base64" doc:"«base64» if it is binary."`
}

func toFileContent(i code.Info, content []byte) fileContent {
	if i.Binary {
		return fileContent{toFileInfo(i), base64.StdEncoding.EncodeToString(content), base64Encoding}
	}
	return fileContent{toFileInfo(i), string(content), textEncoding}
}

const maxCommitMessage = 2000

type filesWriteBody struct {
	Files   []workspaceFile `json:"files,omitempty" items:"..2000"`
	Gone    []string        `json:"delete_files,omitempty" items:"..2000" length:"1.."`
	Message string          `json:"commit_message,omitempty" length:"..2000" default:"\"Update files\""`
}

func writeFiles(structure string) func(*Request) error {
	return func(r *Request) error {
		var in filesWriteBody
		if err := r.decodeStrict(&in); err != nil {
			return err
		}
		if len(in.Files)+len(in.Gone) == 0 {
			return wire.Invalid("files or delete_files is required")
		}
		message := strings.TrimSpace(in.Message)
		if utf8.RuneCountInString(message) > maxCommitMessage || strings.ContainsRune(message, 0) {
			return wire.Invalid("commit_message has more than %d characters, or a NUL", maxCommitMessage)
		}
		if message == "" {
			message = "Update files"
		}
		files, err := toFiles("files", in.Files)
		if err != nil {
			return err
		}
		if len(in.Gone) > code.MaxFiles {
			return wire.Invalid("delete_files has more than %d items", code.MaxFiles)
		}
		for i, path := range in.Gone {
			if err := code.CheckPath(path); err != nil {
				return wire.Invalid("delete_files[%d]: %v", i, err)
			}
		}
		if err := r.writeHead(structure, r.change(message, files, in.Gone)); err != nil {
			return err
		}
		return r.ok()
	}
}

// writeTries bounds the attempts to apply a change to a newer tree. An attempt fails if another
// node has written meanwhile.
const writeTries = 20

// writeHead changes the branch or folder that the request's path names. The lock orders the writes
// of this node. If a write of another node comes first, the head has moved, and writeHead applies
// the change again to the new head. A change contains whole files, so concurrent changes of two
// nodes do not conflict. After writeTries attempts, writeHead returns durable.ErrBusy.
func (r *Request) writeHead(structure string, change code.Change) error {
	defer r.api.Workspaces.Lock(r.Codelab.ID())()
	for range writeTries {
		w, name, before, err := r.head(structure)
		if err != nil {
			return err
		}
		after, err := r.api.Workspaces.Write(w.Id, kindOf(structure), before, change)
		if err != nil {
			return storeError(err)
		}
		_, err = r.recordWorkspace(codelab.ChangeWorkspace{
			WorkspaceID: w.Id, Name: name, Before: before, After: after,
			About: map[string]string{"files": fmt.Sprint(len(change.Write)), "deleted": fmt.Sprint(len(change.Delete))},
		})
		if !errors.Is(err, codelab.ErrHeadMoved) {
			return err
		}
		// The write that moved the head was acknowledged, so Get returns a replica that includes
		// it.
		if r.Codelab, err = r.api.Codelabs.Get(r.Codelab.ID()); err != nil {
			return err
		}
	}
	return durable.ErrBusy
}
