#!/bin/sh
echo refused
