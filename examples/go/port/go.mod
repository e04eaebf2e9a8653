module port

go 1.18
