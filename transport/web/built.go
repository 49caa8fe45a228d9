package web

import (
	"embed"
	"io/fs"
)

// The folder is in the repository with only its .gitignore, so that Go builds without the app.
//
//go:embed all:built
var built embed.FS

// Built returns the app that this program was built with. Without one it holds
// no index.html.
func Built() fs.FS {
	sub, err := fs.Sub(built, "built")
	if err != nil {
		panic(err) // the name is a constant, and valid
	}
	return sub
}
