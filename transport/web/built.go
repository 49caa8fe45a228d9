package web

import (
	"embed"
	"io/fs"
)

// The folder is in the repository with only its .gitignore, so that Go builds without the app.
//
//go:embed all:built
var built embed.FS

// Built returns the app embedded in this program. Without the app it has no index.html.
func Built() fs.FS {
	sub, err := fs.Sub(built, "built")
	if err != nil {
		panic(err) // the name is a valid constant
	}
	return sub
}
