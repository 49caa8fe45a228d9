package rest

import (
	"atelier/actors/codelab"
	"atelier/transport/archive"
)

// maxUnpacking bounds the number of code archives that are unpacked concurrently, because each
// needs up to code.MaxTree of memory.
const maxUnpacking = 2

type filesImported struct {
	Status string `json:"status" const:"ok"`
	Files  int    `json:"files" range:"1..2000" doc:"The number of written files."`
}

// importFiles writes the files of a ZIP or tar.gz into a branch or folder, all or none.
func importFiles(structure string) func(*Request) error {
	return func(r *Request) error {
		replace, err := r.flag("replace")
		if err != nil {
			return err
		}
		if _, _, _, err := r.head(structure); err != nil { // checked before the client sends the archive
			return err
		}
		part, err := r.filePart(archive.MaxPackedCode)
		if err != nil {
			return err
		}
		f, size, err := r.api.Files.Blobs().Spool(part, archive.MaxPackedCode)
		if err != nil {
			return r.storeError(err)
		}
		defer f.Close()
		r.api.unpacking <- struct{}{}
		defer func() { <-r.api.unpacking }()
		if err := r.present(); err != nil {
			return err
		}
		files, err := archive.ReadCode(f, size, r.present)
		if err != nil {
			return err
		}
		change := r.change("Import "+codelab.FileName(part.FileName()), files, nil)
		change.Replace = replace
		if err := r.writeHead(structure, change); err != nil {
			return err
		}
		return r.JSON(filesImported{"ok", len(files)})
	}
}
