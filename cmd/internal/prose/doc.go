// Command prose checks the language of the tree with Vale. The style is in .vale. The command reads
// pages, comments, struct tags of settings and flags, app texts, API descriptions, descriptions of
// load profiles, error texts and test names.
//
//	prose          all findings, after counts by rule and folder
//	prose -clean   errors in the paths of .vale/clean only, and fails if there are any
//	prose -extend  adds the paths without errors to .vale/clean
//	prose PATH…    findings below these paths
package main
