package rest

import (
	"io"
	"time"

	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/transport/wire"
)

// formatZip and formatTar are the archive formats of code downloads. The default is formatTar. ZIP
// is for systems that cannot open a tar.gz.
const (
	formatTar = "tar.gz"
	formatZip = "zip"
)

// downloadWorkspace sends an archive of the branch or folder in the query, or of the whole
// workspace. Downloading the whole workspace requires the permission to export the codelab.
func downloadWorkspace(r *Request) error {
	defer r.api.Workspaces.RLock(r.Codelab.ID())()
	format := r.Query("format")
	if format == "" {
		format = formatTar
	}
	if format != formatTar && format != formatZip {
		return wire.Invalid("format must be %q or %q", formatTar, formatZip)
	}
	branch, folder := r.Query("branch"), r.Query("folder")
	switch {
	case branch != "" && folder != "":
		return wire.Invalid("branch and folder cannot be combined")
	case branch != "":
		return r.downloadTree(codelab.BranchWorkspace, branch, format)
	case folder != "":
		return r.downloadTree(codelab.FolderWorkspace, folder, format)
	case format != formatTar:
		return wire.Invalid("the whole workspace is available only as %s; for %s, name a branch or folder", formatTar, format)
	case !r.IsAdmin() || r.assists():
		return errForbidden
	}
	w, err := r.workspace()
	if err != nil {
		return err
	}
	heads := headsOf(w)
	for i, h := range heads { // the checked-out branch comes first
		if h.Name == codelab.KeptHead {
			heads[0], heads[i] = heads[i], heads[0]
		}
	}
	f, size, err := r.api.Workspaces.Pack(w.Id, kindOf(w.StructureType), heads, time.UnixMilli(w.CreatedAt))
	if err != nil {
		return storeError(err)
	}
	return r.sendArchive(f, size, "codelab-"+r.Codelab.ID(), "", formatTar)
}

// downloadTree sends the files of one branch or folder.
func (r *Request) downloadTree(structure, name, format string) error {
	w, tree, err := r.readableNamed(structure, structure, name)
	if err != nil {
		return err
	}
	how := code.TarGz
	if format == formatZip {
		how = code.Zip
	}
	f, size, err := r.api.Workspaces.PackTree(w.Id, kindOf(structure), tree, how, time.UnixMilli(w.CreatedAt))
	if err != nil {
		return storeError(err)
	}
	return r.sendArchive(f, size, name, name, format)
}

// sendArchive sends an archive, and records that the caller downloaded head, or everything with "".
func (r *Request) sendArchive(f io.ReadCloser, size int64, name, head, format string) error {
	if !r.IsHead() {
		if _, err := r.do(codelab.TakeCode{Name: head}); err != nil {
			_ = f.Close()
			return err
		}
	}
	r.Response.Header.Set("Content-Disposition", `attachment; filename="`+name+"."+format+`"`)
	r.SetContentType(map[string]string{formatTar: "application/gzip", formatZip: "application/zip"}[format])
	r.Send(r.Paced(f), int(size))
	return nil
}
