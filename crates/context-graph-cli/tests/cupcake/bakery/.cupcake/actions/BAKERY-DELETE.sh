#!/bin/sh
echo deleted
