package files

import (
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
)

// Tables. Their keys are parts joined by a zero byte.
const (
	uploadTable    = "uploads"    // name
	uploadUseTable = "uploaduses" // name, codelab, by
	blobUseTable   = "blobuses"   // sum, "u", name; or sum, "s", codelab, submission
)

// By is the kind of object that refers to an upload in a codelab.
type By string

const (
	// ByMaterial: a material is the upload.
	ByMaterial By = "material"
	// ByText: the text of the codelab mentions it.
	ByText By = "text"
	// ByTalk: a message or a comment mentions it.
	ByTalk By = "talk"
)

func key(parts ...string) []byte {
	var k []byte
	for i, p := range parts {
		if i > 0 {
			k = append(k, 0)
		}
		k = append(k, p...)
	}
	return k
}

// UploadRows returns the rows that register an upload.
func UploadRows(u *pb.Upload) []durable.Row {
	value := pbwire.Encode(u)
	sum, _ := SumOf(u.Sum)
	return []durable.Row{
		{Table: uploadTable, Key: []byte(u.Name), Value: value},
		{Table: blobUseTable, Key: key(sum.String(), "u", u.Name)},
	}
}

func removalRows(u *pb.Upload) []durable.Row {
	rows := UploadRows(u)
	for i := range rows {
		rows[i].Value, rows[i].Delete = nil, true
	}
	return rows
}

// UseRow records that a codelab refers to an upload.
func UseRow(name, codelab string, by By) durable.Row {
	return durable.Row{Table: uploadUseTable, Key: key(name, codelab, string(by))}
}

// UnuseRow removes that reference, immediately or after a while.
func UnuseRow(name, codelab string, by By, after time.Duration) durable.Row {
	row := UseRow(name, codelab, by)
	row.Delete, row.TTL = after <= 0, after
	return row
}

// SubmissionRow records that a submission refers to a stored object.
func SubmissionRow(sum []byte, codelab, submission string) durable.Row {
	s, _ := SumOf(sum)
	return durable.Row{Table: blobUseTable, Key: key(s.String(), "s", codelab, submission)}
}

// NoSubmissionRow removes that reference.
func NoSubmissionRow(sum []byte, codelab, submission string) durable.Row {
	row := SubmissionRow(sum, codelab, submission)
	row.Delete = true
	return row
}
