package codelab

import (
	"math"
	"path"
	"slices"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Accents lists the names of a certificate's colours, ordered by number.
var Accents = []string{"blue", "green", "violet", "rust", "ink"}

// MaxLogo bounds a certificate's image, in bytes.
const MaxLogo = 200 << 10

// Bounds of a certificate's fields, in code points and hours.
const (
	maxOrganiser       = 120
	maxCertificateText = 500
	maxHours           = 1000
)

// LogoName returns the name of the upload to which a logo's address refers. It returns false if the
// address is not that of an uploaded PNG, JPEG or WebP image.
func LogoName(url string) (name string, ok bool) {
	name, ok = files.NameOf(url)
	kind, _, _ := strings.Cut(name, "/")
	return name, ok && kind == files.Images && slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp"}, path.Ext(name))
}

// checkCertificate normalizes and checks the fields of the certificate.
func checkCertificate(m *pb.Codelab) (err error) {
	if m.Organiser, err = line("organiser", m.Organiser, 0, maxOrganiser); err != nil {
		return err
	}
	if err = text("certificate_text", m.CertificateText, 0, maxCertificateText); err != nil {
		return err
	}
	if h := m.HalfHours; h != nil && (*h < 0 || *h > 2*maxHours) {
		return durable.Reject(durable.Invalid, "hours must be 0 to %d", maxHours)
	}
	if _, known := pb.Accent_name[int32(m.Accent)]; !known {
		return durable.Reject(durable.Invalid, "accent is not a known accent")
	}
	if _, ok := LogoName(m.LogoUrl); m.LogoUrl != "" && !ok {
		return durable.Reject(durable.Invalid, "logo_url must be the address of a PNG, JPEG or WebP that was uploaded here")
	}
	return nil
}

// HalfHours converts hours to half hours, the unit of stored records.
func HalfHours(hours float64) (*int32, error) {
	if halves := hours * 2; hours >= 0 && hours <= maxHours && halves == math.Trunc(halves) {
		return new(int32(halves)), nil
	}
	return nil, durable.Reject(durable.Invalid, "hours must be 0 to %d in halves", maxHours)
}

// OwnHours returns the hours that the codelab sets, or nil if it uses the planned hours.
func OwnHours(m *pb.Codelab) *float64 {
	if m.HalfHours == nil {
		return nil
	}
	return new(Hours(m))
}

// Hours returns the hours on a certificate, or 0 if it shows none. If the codelab does not set
// hours, Hours rounds the planned minutes to half hours.
func Hours(m *pb.Codelab) float64 {
	if m.HalfHours != nil {
		return float64(*m.HalfHours) / 2
	}
	return math.Floor(float64(m.Extent.GetMinutes())/30+0.5) / 2
}
