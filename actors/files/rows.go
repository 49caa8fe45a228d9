package files

import (
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
)

// The tables. A key consists of the listed parts, joined by zero bytes.
const (
	uploadTable    = "uploads"    // name
	uploadUseTable = "uploaduses" // name, codelab, by
	blobUseTable   = "blobuses"   // sum, "u", name; or sum, "s", codelab, submission
)

// By is the kind of object that refers to an upload in a codelab.
type By string

const (
	// ByMaterial: a material consists of the upload.
	ByMaterial By = "material"
	// ByText: the text of the codelab mentions the upload.
	ByText By = "text"
	// ByTalk: a chat message or a comment mentions the upload.
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

// UseRow returns the row that records that a codelab refers to an upload.
func UseRow(name, codelab string, by By) durable.Row {
	return durable.Row{Table: uploadUseTable, Key: key(name, codelab, string(by))}
}

// UnuseRow returns the row that removes the reference of UseRow, immediately or after a time.
func UnuseRow(name, codelab string, by By, after time.Duration) durable.Row {
	row := UseRow(name, codelab, by)
	row.Delete, row.TTL = after <= 0, after
	return row
}

// SubmissionRow returns the row that records that a submission refers to a stored object.
func SubmissionRow(sum []byte, codelab, submission string) durable.Row {
	s, _ := SumOf(sum)
	return durable.Row{Table: blobUseTable, Key: key(s.String(), "s", codelab, submission)}
}

// NoSubmissionRow returns the row that removes the reference of SubmissionRow.
func NoSubmissionRow(sum []byte, codelab, submission string) durable.Row {
	row := SubmissionRow(sum, codelab, submission)
	row.Delete = true
	return row
}
