package web

import (
	"embed"
	"io/fs"
)

// The repository contains this folder with only a .gitignore, so that Go compiles before the app is
// built.
//
//go:embed all:built
var built embed.FS

// Built returns the app embedded in this program. Without the app it has no index.html.
func Built() fs.FS {
	sub, err := fs.Sub(built, "built")
	if err != nil {
		panic(err) // cannot happen: the path is constant and valid
	}
	return sub
}
