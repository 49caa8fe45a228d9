// Package intake takes files in: it finds out what they are, refuses what is
// not wanted, and puts the rest where contents are kept. Nothing is left of a
// file that is refused or breaks off.
//
// Metadata of images is removed: place, time, camera and author. This works on the
// containers and decodes no pixels, so pictures stay identical, and a small file that
// unpacks to a huge picture costs nothing. Only known parts of the picture are copied;
// everything else, and all data after its end, is removed. The orientation stays, in an
// EXIF block that holds nothing else, and so do colour profiles. Files whose structure is
// broken are refused.
package intake
