package codelab

import "crypto/rand"

// joinCode returns six random characters that are easy to distinguish when read aloud or from a
// screen.
func joinCode() string {
	const alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789" // 31 characters
	var b [6]byte
	for i := 0; i < len(b); {
		var one [1]byte
		_, _ = rand.Read(one[:])
		if one[0] < 8*31 { // so that all characters are equally likely
			b[i] = alphabet[one[0]%31]
			i++
		}
	}
	return string(b[:])
}
