// Package intake receives files: it detects their type, refuses unwanted ones, and stores the
// others. Nothing remains of a file that is refused or incomplete.
//
// Metadata of images is removed: place, time, camera and author. The package rewrites the
// containers and decodes no pixels, so images stay identical, and a small file that unpacks to a
// huge image costs nothing. Only known parts of the image are copied. Everything else, including
// all data after the end of the image, is removed. The orientation stays, in an EXIF block with
// nothing else, and so do colour profiles. Image refuses a file with a broken structure. Material
// stores such a file unchanged, with a media type that is never displayed.
package intake
