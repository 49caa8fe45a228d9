module workshop

go 1.26.0
