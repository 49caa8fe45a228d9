#!/bin/sh
# Certificates by which the nodes of a cluster know each other:
#
#   sh certificates.sh node1=10.0.0.11 node2=10.0.0.12 node3=node-3.example.org
#
# Each name is followed by what stands for that node in cluster.peers. It writes
# nodes-ca.pem (for all), and node1.pem and node1.key and so on (each for its node)
# to the working folder. nodes-ca.key makes further nodes: run it again with their
# names, and keep that file elsewhere. Who has it can be a node, if they know
# cluster.secret too.
set -eu
umask 077
DAYS=${DAYS:-825}

if [ ! -e nodes-ca.key ]; then
	openssl ecparam -name prime256v1 -genkey -noout -out nodes-ca.key
	openssl req -x509 -new -key nodes-ca.key -sha256 -days 3650 -out nodes-ca.pem \
		-subj "/CN=Atelier nodes" \
		-addext "basicConstraints=critical,CA:TRUE,pathlen:0" -addext "keyUsage=critical,keyCertSign,cRLSign"
fi
for node; do
	name=${node%%=*} host=${node#*=}
	case $host in
	*:*) san="IP:$host" ;; # IPv6
	*[!0-9.]*) san="DNS:$host" ;;
	*) san="IP:$host" ;;
	esac
	openssl ecparam -name prime256v1 -genkey -noout -out "$name.key"
	openssl req -new -key "$name.key" -subj "/CN=$name" -out "$name.csr"
	# Nodes call and are called, so a certificate is for both.
	printf '%s\n' "subjectAltName=$san" "extendedKeyUsage=serverAuth,clientAuth" \
		"keyUsage=critical,digitalSignature" "basicConstraints=critical,CA:FALSE" >"$name.ext"
	openssl x509 -req -in "$name.csr" -CA nodes-ca.pem -CAkey nodes-ca.key -CAcreateserial -sha256 -days "$DAYS" \
		-extfile "$name.ext" -out "$name.pem"
	rm "$name.csr" "$name.ext"
done
