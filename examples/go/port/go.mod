module port

go 1.19
