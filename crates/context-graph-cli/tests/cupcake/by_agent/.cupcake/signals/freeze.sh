#!/bin/sh
echo '{"active": true}'
