module receiver

go 1.26.0
